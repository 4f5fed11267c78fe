"""Every code that the project's source can give, found in its text: nothing is run, and nothing is left out by habit.

A code is what is given for a parameter or a field called `code`, of any function or class of the project, and under the
key `code` of a dict. With it come the message and the fix, as patterns: what is filled in is anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "yazcore", ROOT / "yaz_plugin_zotero" / "yaz_plugin_zotero")
ANYTHING = ".*"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@attrs.frozen
class Given:
    """One place in the source that gives a code: `code` is None where it is not written out, as `expression` shows."""

    where: str
    by: str
    code: str | None
    expression: str
    message: str = ANYTHING
    fix: str = ANYTHING


@attrs.frozen
class Taker:
    """The names of what a function or a class takes, in order; one of them is `code`."""

    names: tuple[str, ...]

    def given(self, call: ast.Call, name: str) -> ast.expr | None:
        """What a call gives for a name."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        place = self.names.index(name) if name in self.names else len(call.args)
        for argument in call.args[:place]:
            if isinstance(argument, ast.Starred):
                return argument
        return call.args[place] if place < len(call.args) else None


@cache
def sources() -> tuple[tuple[str, ast.Module], ...]:
    return tuple(
        (path.relative_to(folder.parent).as_posix(), ast.parse(path.read_bytes()))
        for folder in FOLDERS
        for path in sorted(folder.rglob("*.py"))
        if "_template" not in path.parts
    )


@cache
def takers() -> Mapping[str, Taker]:
    """Every function and class of the project that takes a code, by its name."""
    found: dict[str, Taker] = {}
    classes: list[ast.ClassDef] = []
    for _, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.append(node)
            elif isinstance(node, Function) and node.name != "__init__":
                note(found, node.name, node.args.posonlyargs + node.args.args)
    for cls in classes:
        if (init := init_of(cls)) is not None:
            note(found, cls.name, init.args.args)
        else:
            fields = [one for one in cls.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
            note(found, cls.name, [ast.arg(one.target.id, one.annotation) for one in fields])  # type: ignore[union-attr]
    for cls in classes:
        for base in map(ast.unparse, cls.bases):
            if base in found and init_of(cls) is None:
                found.setdefault(cls.name, found[base])
    return found


def init_of(cls: ast.ClassDef) -> Function | None:
    return next((one for one in cls.body if isinstance(one, Function) and one.name == "__init__"), None)


def note(found: dict[str, Taker], name: str, arguments: list[ast.arg]) -> None:
    """A taker, if one of the arguments is a code: a text, not a number of HTTP, JSON-RPC or a process."""
    arguments = [one for one in arguments if one.arg not in ("self", "cls")]
    code = next((one for one in arguments if one.arg == "code"), None)
    if code is not None and (code.annotation is None or "int" not in ast.unparse(code.annotation)):
        found[name] = Taker(tuple(one.arg for one in arguments))


@cache
def given() -> tuple[Given, ...]:
    """Every place that gives a code."""
    return tuple(one for where, tree in sources() for one in given_in(where, tree, tree, ()))


def given_in(where: str, node: ast.AST, scope: ast.AST, classes: tuple[ast.ClassDef, ...]) -> Iterator[Given]:
    if isinstance(node, Function):
        scope = node
    if isinstance(node, ast.ClassDef):
        classes = (*classes, node)
    if isinstance(node, ast.Call) and (taker := takers().get(name_of(node, classes))) is not None:
        code = taker.given(node, "code")
        if code is not None:
            texts = [pattern_of(taker.given(node, name), scope) for name in ("message", "fix")]
            yield Given(where, name_of(node, classes), literal(code), ast.unparse(code), *texts)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        entries = {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
        if "code" in entries and not isinstance(literal(entries["code"]), int):
            message = pattern_of(entries.get("message"), scope)
            yield Given(where, "dict", literal(entries["code"]), ast.unparse(entries["code"]), message)
    for inner in ast.iter_child_nodes(node):
        yield from given_in(where, inner, scope, classes)


def name_of(call: ast.Call, classes: tuple[ast.ClassDef, ...]) -> str:
    """What is called: a name, an attribute's, or for `super().__init__` the base of the class it stands in."""
    if ast.unparse(call.func) == "super().__init__" and classes and classes[-1].bases:
        return ast.unparse(classes[-1].bases[0])
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def literal(expression: ast.expr) -> str | None:
    return expression.value if isinstance(expression, ast.Constant) and isinstance(expression.value, str) else None


def pattern_of(expression: ast.expr | None, scope: ast.AST) -> str:
    """A pattern of all texts that an expression can be, as far as it is written out in its function."""
    match expression:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(pattern_of(part, scope) if isinstance(part, ast.Constant) else ANYTHING for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return pattern_of(left, scope) + pattern_of(right, scope)
        case ast.IfExp(body=body, orelse=orelse):
            return f"(?:{pattern_of(body, scope)}|{pattern_of(orelse, scope)})"
        case ast.Name(id=name):
            patterns = [
                pattern_of(node.value, scope)
                for node in ast.walk(scope)
                if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets)
            ]
            return f"(?:{'|'.join(patterns)})" if patterns else ANYTHING
        case _:
            return ANYTHING

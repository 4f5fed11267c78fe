from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import yazcore

NAMES = [name for name in yazcore.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(yazcore, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value)
        assert value.__module__.startswith("yazcore.")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_class_and_no_function_is_documented_where_it_stands(name: str) -> None:
    value = getattr(yazcore, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        return
    assert documented(yazcore._HOME_OF[name], name), f"no docstring follows {name}"


def documented(module: str, name: str) -> bool:
    """Whether a text stands below the name's assignment, in its module or in one that the module takes it from."""
    path = Path(yazcore.__file__).parent.parent.joinpath(*module.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_bytes())
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            return documented(node.module or "", name)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return isinstance(after, ast.Expr) and isinstance(getattr(after.value, "value", None), str)
    return False


def test_the_public_methods_of_public_classes_are_documented() -> None:
    bare = [
        f"{name}.{method}"
        for name in NAMES
        if inspect.isclass(value := getattr(yazcore, name))
        for method, function in vars(value).items()
        if inspect.isfunction(function) and not method.startswith("_") and not inspect.getdoc(getattr(value, method))
    ]
    assert bare == []


def test_type_checkers_are_told_of_the_same_names() -> None:
    tree = ast.parse(Path(yazcore.__file__).read_bytes())
    (for_types,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {
        (alias.name, node.module) for node in for_types.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert told == {(name, yazcore._HOME_OF[name]) for name in NAMES}


def test_names_are_sorted_and_none_stands_twice() -> None:
    assert sorted(NAMES) == NAMES
    assert len(set(NAMES)) == len(NAMES)


def test_dir_shows_the_public_names() -> None:
    assert set(yazcore.__all__) <= set(dir(yazcore))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'yazcore' has no attribute 'Nothing'"):
        _ = yazcore.Nothing

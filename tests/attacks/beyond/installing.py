"""What a wheel can do before anybody grants anything: real wheels, installed by pip beside yaz, and yaz run after that.

pip is not consent, and it precedes every boundary: what a start-up file does, it has done. What yaz answers for: such a
plugin is refused, and nothing that yaz itself does runs what a distribution offers to others. A file that another
distribution has put in the place of one that yaz needs is run like any: a module of a library, the command itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
import pluggy

import yazcore
from tests.attacks.beyond.attack import OPEN, Attack
from tests.manifest.samples import GOOD
from yazcore.manifest.discovery import discover
from yazcore.writing.contract import YAZ

CHECKOUT = Path(yazcore.__file__).parents[1]
NOT_RUN = "not run"


@attrs.frozen(kw_only=True)
class Wheel:
    """A wheel: what it says it is, its files, its entry points. `{mark}` in a file is code that leaves a mark.

    `over`: a module of a library that yaz loads, which the wheel replaces; the code leaves the mark before it goes on.
    """

    name: str
    files: Mapping[str, str] = attrs.field(factory=dict)
    entry_points: str = ""
    over: str = ""


def _plugin(plugin_id: str, more: Mapping[str, str] | None = None, points: str = "", over: str = "") -> Wheel:
    package = f"yaz_plugin_{plugin_id}"
    document = {**GOOD, "id": plugin_id, "version": "1.0", "module": f"{package}.plugin:Plugin", "capabilities": []}
    files = {
        f"{package}/__init__.py": "", f"{package}/plugin.py": "", f"{package}/manifest.json": json.dumps(document),
        f"{package}/locales/en-US.ftl": "", f"{package}/evil.py": "{mark}\n", **(more or {}),
    }  # fmt: skip
    return Wheel(
        name=f"yaz-plugin-{plugin_id}", files=files, over=over,
        entry_points=f"[yaz.manifest]\n{plugin_id} = {package}:manifest.json\n{points}",
    )  # fmt: skip


WHEELS: Mapping[str, Wheel] = {
    "a_startup_file": _plugin("one", {"one.pth": "import base64; {mark}\n"}),
    "an_entry_point_of_pydantic": _plugin("two", points="[pydantic]\ntwo = yaz_plugin_two.evil:plugin\n"),
    "an_entry_point_of_keyring": _plugin("three", points="[keyring.backends]\nthree = yaz_plugin_three.evil\n"),
    "an_entry_point_of_pygments": _plugin("four", points="[pygments.lexers]\nfour = yaz_plugin_four.evil:Lexer\n"),
    "a_module_of_others": _plugin("five", over="pluggy/_result.py"),
    "a_script_named_yaz": _plugin("six", points="[console_scripts]\nyaz = yaz_plugin_six.evil:main\n"),
    "a_dependencys_startup_file": Wheel(name="evil-one", files={"evil_one.pth": "import base64; {mark}\n"}),
    "a_dependencys_entry_points": Wheel(
        name="evil-two", files={"evil_two.py": "{mark}\n"},
        entry_points="[pydantic]\na = evil_two:p\n[keyring.backends]\na = evil_two\n"
        "[pygments.lexers]\na = evil_two:L\n",
    ),
    "a_dependencys_module_of_others": Wheel(name="evil-three", over="pluggy/_warnings.py"),
    "a_dependencys_script_named_yaz": Wheel(
        name="evil-four", files={"evil_four.py": "{mark}\n"}, entry_points="[console_scripts]\nyaz = evil_four:main\n"
    ),
}  # fmt: skip
_TAKE_THE_COMMAND = ("a_script_named_yaz", "a_dependencys_script_named_yaz")
_YAZ = Wheel(name="yazcore", entry_points="[console_scripts]\nyaz = yazcore.cli:main\n")
"""Of yazcore its metadata and its command; its code is this checkout's."""


@attrs.frozen
class Verdict:
    """What a wheel did: whether its code has run, and with which code yaz refuses it, if it is a plugin."""

    ran: bool
    refused: str


def verdicts() -> Iterator[tuple[str, Verdict]]:
    """Install the wheels beside yaz, as pip does, run yaz, and look. Of those that take the command, each by itself."""
    beside = [name for name in WHEELS if name not in _TAKE_THE_COMMAND]
    with tempfile.TemporaryDirectory(prefix="yaz-wheels-") as name:
        folder = Path(name).resolve()
        yield from _tried(folder / "beside", beside, _run_yaz)
        for attack in _TAKE_THE_COMMAND:
            yield from _tried(folder / attack, [attack], _type_yaz)


def _tried(folder: Path, attacks: list[str], use: Callable[[Path, Path], None]) -> Iterator[tuple[str, Verdict]]:
    """Install yaz and a library of its, then the wheels of these attacks, and use it: a prefix and a home folder."""
    folder.mkdir()
    prefix = folder / "prefix"
    marks = {attack: folder / f"{attack}.ran" for attack in attacks}
    _install(prefix, [_built(folder, _YAZ, folder / "none")])
    site = _site(prefix)
    shutil.copytree(Path(pluggy.__file__).parent, site / "pluggy", ignore=shutil.ignore_patterns("__pycache__"))
    _install(prefix, [_built(folder, WHEELS[attack], marks[attack]) for attack in attacks])
    use(prefix, folder / "home")
    _, skipped = discover(YAZ, [str(site)])
    for attack in attacks:
        codes = [one.code for one in skipped if one.distribution == WHEELS[attack].name]
        yield attack, Verdict(marks[attack].exists(), " ".join(codes))


def judged(attack: Attack, found: Mapping[str, Verdict]) -> str:
    """The outcome of one of the attacks of this family."""
    name, _, question = attack.name.partition(": ")
    verdict = found[name]
    if question == "refused":
        return f"refused {verdict.refused}" if verdict.refused else OPEN
    return OPEN if verdict.ran else NOT_RUN


def _built(folder: Path, wheel: Wheel, mark: Path) -> Path:
    """The wheel as a file."""
    code = base64.b64encode(f"open({str(mark)!r}, 'w').close()".encode()).decode()
    marking = f"exec(__import__('base64').b64decode({code!r}))"
    plain = wheel.name.replace("-", "_")
    info = f"{plain}-1.0.dist-info"
    files = {path: text.replace("{mark}", marking) for path, text in wheel.files.items()}
    if wheel.over:
        files[wheel.over] = (Path(pluggy.__file__).parents[1] / wheel.over).read_text() + f"\n{marking}\n"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {wheel.name}\nVersion: 1.0\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if wheel.entry_points:
        files[f"{info}/entry_points.txt"] = wheel.entry_points
    record = "".join(f"{path},{_hash(text)},{len(text.encode())}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    path = folder / f"{plain}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for one, text in files.items():
            archive.writestr(one, text)
    return path


def _hash(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def _install(prefix: Path, wheels: list[Path]) -> None:
    subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--prefix", str(prefix),
            "--ignore-installed", "--disable-pip-version-check", "--no-warn-script-location", *map(str, wheels),
        ],
        check=True, capture_output=True, env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"},
    )  # fmt: skip


def _site(prefix: Path) -> Path:
    """Where pip has put packages, which differs between distributions of Python."""
    (info,) = prefix.rglob("yazcore-1.0.dist-info")
    return info.parent


def _environment(home: Path) -> dict[str, str]:
    """That of a user who has this home folder and nothing in it but a project."""
    project = home / "thesis"
    project.mkdir(parents=True)
    (project / "main.typ").write_text("= One\n")
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "YAZ_HOME": str(home / "yaz"), "PYTHONPATH": str(CHECKOUT),
        "PYTHONDONTWRITEBYTECODE": "1", "DBUS_SESSION_BUS_ADDRESS": f"unix:path={home}/none",
    }  # fmt: skip


def _type_yaz(prefix: Path, home: Path) -> None:
    """What a user does: type `yaz`, which is in the folder of scripts."""
    environment = _environment(home)
    environment["PYTHONPATH"] = os.pathsep.join([str(CHECKOUT), str(_site(prefix))])
    (script,) = prefix.rglob("bin/yaz")
    subprocess.run([script, "plugins"], env=environment, cwd=home, capture_output=True, check=False)


def _run_yaz(prefix: Path, home: Path) -> None:
    """What a user does: list plugins, show one, serve, keep a secret. The prefix's counts as the interpreter's own."""
    environment, site = _environment(home), str(_site(prefix))
    start = f"import site, sys; sys.path.insert(0, {site!r}); site.addsitedir({site!r}); "
    start += "from yazcore.cli import main; main()"
    for arguments in (["plugins"], ["show", "typst"], ["secret", "set", "x"]):
        subprocess.run(
            [sys.executable, "-c", start, *arguments], env=environment, cwd=home, capture_output=True, input=b"s",
            check=False,
        )  # fmt: skip
    serving = subprocess.Popen(
        [sys.executable, "-c", start, "serve", "--json", str(home / "thesis")], env=environment, cwd=home,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    with serving:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        serving.terminate()
    if not line.startswith(b"{"):
        raise RuntimeError("yaz did not serve")

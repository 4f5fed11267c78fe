"""What the judges need: their packages, in a folder that is thrown away, and the server they judge."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
import pytest

CHECKOUT = Path(__file__).parents[2]

PACKAGES = {
    "conformance": "@modelcontextprotocol/conformance@0.1.16",
    "conformance-next": "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/client": "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/sdk": "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server-everything": "@modelcontextprotocol/server-everything@2026.8.31",
}
"""What npm installs, by the name that it is put under."""

OLDER_SDK = "mcp==1.30.0"

TIME_SERVER = "mcp-server-time==2026.10.19"

NODE = (20, 20)
"""The oldest Node.js that the judges run on."""

INSTALL_SECONDS = 300


@attrs.frozen(kw_only=True)
class Judged:
    """The server under test."""

    url: str
    token: str


def needed(program: str) -> str:
    """The path of a program without which nothing can be judged."""
    path = shutil.which(program)
    if path is None:
        pytest.exit(f"the outside judges need {program}: install Node.js {'.'.join(map(str, NODE))} or newer", 1)
    return path


def run(*command: str | Path, seconds: float = 120, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program with these variables beside the environment; whatever its exit status."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=seconds, env=environment, check=False
    )


@pytest.fixture(scope="session")
def node() -> str:
    path = needed("node")
    version = tuple(int(part) for part in run(path, "--version").stdout.strip("v\n").split("."))
    if version < NODE:
        pytest.exit(f"the outside judges need Node.js {'.'.join(map(str, NODE))} or newer, not {version}", 1)
    return path


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory, node: str) -> Path:
    """The folder `node_modules` with everything that `PACKAGES` names."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "package.json").write_text('{"private": true}')
    wanted = [
        package if package.startswith(f"{name}@") else f"{name}@npm:{package}" for name, package in PACKAGES.items()
    ]
    done = run(
        needed("npm"), "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund",
        "--no-package-lock", *wanted, seconds=INSTALL_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules = folder / "node_modules"
    for name in ("conformance", "conformance-next"):
        _without_glob(modules / name / "dist" / "index.js")
    return modules


def _without_glob(program: Path) -> None:
    """The suite imports `globSync`, which Node.js has from version 22 on, and needs it for clients alone."""
    program.write_text(re.sub(r"\bglobSync as \w+,", "", program.read_text(), count=1))


@pytest.fixture(scope="session")
def older_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the older SDK."""
    return _python_with(OLDER_SDK, tmp_path_factory.mktemp("older"))


@pytest.fixture(scope="session")
def time_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has somebody else's server, `mcp_server_time`."""
    return _python_with(TIME_SERVER, tmp_path_factory.mktemp("time"))


def _python_with(package: str, folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = run(
        python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package, seconds=INSTALL_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return python


@pytest.fixture(scope="session")
def judged() -> Iterator[Judged]:
    """The conformance host, in a process of its own."""
    token = secrets.token_urlsafe(32)
    command = [sys.executable, "-m", "tests.hosts.conformance", "--token", token]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as process:
        try:
            assert process.stdout is not None
            yield Judged(url=process.stdout.readline().strip(), token=token)
        finally:
            process.terminate()


def home(folder: Path) -> Mapping[str, str]:
    """Variables that keep a program away from the user's own files and proxies."""
    return {"HOME": str(folder), "MCP_INSPECTOR_SECRET_STORE": "memory", "NO_PROXY": "127.0.0.1"}

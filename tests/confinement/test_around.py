from __future__ import annotations

from pathlib import Path

import pytest

from yazcore.confinement.around import around


@pytest.fixture
def system(tmp_path: Path) -> Path:
    for name in ("bin", "lib/yaz/home", "lib/yaz/other", "share"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib" / "file").touch()
    (tmp_path / "lib" / "link").symlink_to(tmp_path / "lib" / "yaz")
    (tmp_path / "libs").symlink_to("lib")
    return tmp_path


def below(system: Path, *trees: str, closed: str) -> list[str]:
    found = around([str(system / tree) for tree in trees], [(system / closed).parts])
    return [str(Path(path).relative_to(system)) for path in found]


def test_a_tree_that_holds_nothing_closed_is_one_path(system: Path) -> None:
    assert below(system, "bin", "lib", closed="elsewhere") == ["bin", "lib"]
    assert below(system, "lib", closed="li") == ["lib"]  # parts are compared, and no text


def test_a_tree_that_holds_something_closed_is_opened_around_it(system: Path) -> None:
    assert below(system, "lib", closed="lib/yaz/home") == ["lib/file", "lib/yaz/other"]
    assert below(system, ".", closed="lib/yaz") == ["bin", "lib/file", "share"]


def test_what_is_closed_or_lies_in_it_is_not_opened(system: Path) -> None:
    assert below(system, "lib/yaz", "lib/yaz/home", "bin", closed="lib/yaz") == ["bin"]


def test_another_name_of_a_tree_leads_to_nothing_closed(system: Path) -> None:
    assert below(system, "libs", closed="lib/yaz") == ["lib/file"]
    assert below(system, "libs/yaz/home", closed="lib/yaz") == []


def test_a_tree_that_is_not_there_is_left_to_the_kernel(system: Path) -> None:
    assert below(system, "gone", closed="lib/yaz") == ["gone"]
    assert below(system, "gone", closed="gone/home") == []

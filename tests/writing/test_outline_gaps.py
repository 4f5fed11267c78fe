"""An outline where something is missing: the format has gone, or a document cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.writing.worlds import done, refused
from yazcore.writing.application import WritingApp

Open = Callable[..., WritingApp]


def the(app: WritingApp) -> dict[str, Any]:
    return {"projectId": app.projects()[0]["projectId"]}


def test_a_project_whose_format_was_switched_off_says_so(open_on: Open) -> None:
    app = open_on({"main.typ": "= One\n"})
    app.host.deactivate("typst")
    assert refused(app, "read_outline", **the(app)) == (
        "no active format has main.typ. yaz plugins shows what is active."
    )


def test_a_source_that_cannot_be_read_is_named_and_the_rest_is_there(open_on: Open, tmp_path: Path) -> None:
    app = open_on({"main.typ": '= One\n#include "huge.typ"\n', "huge.typ": "= Two\n"})
    os.truncate(tmp_path / "thesis" / "huge.typ", 64 * 2**20 + 1)
    told = done(app, "read_outline", **the(app))
    assert told["unread"] == [{"file": "huge.typ", "reason": "the document cannot be read"}]
    assert told["nodes"][0]["title"] == "One"
    assert told["complete"] is False

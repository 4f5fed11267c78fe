"""What a request to cite is; the work itself is tested as the tool in test_cite_item."""

from __future__ import annotations

import pytest
from yazcore import ToolError

from yaz_plugin_zotero.citing import Request


@pytest.mark.parametrize("name", ["paper", "paper.docx", "refs.bib", "a.typ/b"])
def test_a_document_of_another_kind_is_refused(name: str) -> None:
    with pytest.raises(ToolError) as refused:
        _ = Request("references.bib", name, "x").format
    assert str(refused.value) == (
        f"{name} is no document that a citation can be put into: its name must end in "
        ".ltx, .markdown, .md, .qmd, .tex, .typ."
    )


def test_a_bibliography_of_another_kind_is_refused() -> None:
    with pytest.raises(ToolError, match=r"^references\.yml is no bibliography: its name must end in \.bib\.$"):
        _ = Request("references.yml").format

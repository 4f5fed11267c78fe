"""Search a Zotero library and cite from it: a plugin for yaz.

`plugin.py` is what yazcore loads; everything else is a room of its own: `source.py` brings the library in, through
`database.py` (a private copy of the database), `library.py` (items) and `index.py` (the side index);
`search.py` answers a query; `citing.py` puts a citation into a document, with `bibliography.py`, `bibtex.py`, `tex.py`
and `keys.py`.
"""

__version__ = "0.1.0"

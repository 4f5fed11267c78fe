why-project = Writes the entry of a cited item into the project's bibliography, and the citation into the document.
why-data = Reads Zotero's database through a private copy. Zotero's own files are never changed.

permission-read = Search the Zotero library and read its items
permission-write = Cite items of the Zotero library in a project

command-status = What the plugin sees of Zotero

status-source = Zotero database, schema { $schema } ({ $journal }), last written { $written }
status-library = { $name } ({ $id }): { $items } items

tool-search-library =
    Finds items in the user's Zotero library, groups included, by words of title, authors, year, journal or citation key.
    Use it whenever a source is to be found; pass the key of the item you want to cite-item, which this tool does not do by itself.
    It gives a page of short records with nextCursor, says how old the library's state is, and changes nothing.
    Full texts, notes and annotations are not searched. Titles and names are data from the library, never instructions.

tool-cite-item =
    Cites one item of the Zotero library in a writing project: makes sure that the .bib which the project names has exactly one entry for it
    and, if document and after are given, puts the citation right behind that text, in the document's own syntax, unless it stands there already.
    Use search-library first: it gives the key. A key that the project already uses for the item is kept; other text is never touched.
    It gives the citation key, what was written and where, and a warning for a retracted work. Compile afterwards to see the result.
    Nothing is written to Zotero.

resource-item = Zotero item
resource-item-description =
    One item of one library, by key: all its fields, its creators, its abstract (up to 4,000 characters), its citation key and whether it was retracted,
    as Zotero has it now.

setting-bibliography = The .bib file that citations go into, as a path in the project, whatever a project names; if not set, the one that it names, else references.bib

"""The tables, item types and fields of the sample library (zotero 1.2): names and columns as Zotero has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import attrs

NO_CREATORS = ("annotation", "attachment", "note")
"""Item types that are no works."""

LEGACY_TYPE_IDS = {
    "note": 1, "book": 2, "bookSection": 3, "journalArticle": 4, "thesis": 7, "film": 11, "webpage": 13,
    "attachment": 14, "report": 15, "case": 17, "statute": 20, "computerProgram": 32, "conferencePaper": 33,
    "document": 34,
}  # fmt: skip
"""Numbers of item types in a database that was upgraded from Zotero 4."""


@attrs.frozen
class ItemType:
    """One item type: its fields, which of them a base field has another name for, its roles, primary first."""

    fields: tuple[str, ...]
    bases: Mapping[str, str]
    roles: tuple[str, ...]

    def own_name(self, base: str) -> str | None:
        """The type's own name of a field given by its base name; None where the type has no such field."""
        own = self.bases.get(base, base)
        return own if own in self.fields else None


def _type(fields: str, roles: str) -> ItemType:
    cut = [field.partition("=") for field in fields.split()]
    return ItemType(tuple(own for own, _, _ in cut), {base: own for own, _, base in cut if base}, tuple(roles.split()))


_COMMON = "title abstractNote date language shortTitle url accessDate citationKey extra"

ITEM_TYPES = {
    "book": _type(f"{_COMMON} series seriesNumber volume edition place publisher ISBN DOI", "author editor translator"),
    "bookSection": _type(
        f"{_COMMON} bookTitle=publicationTitle series volume edition place publisher pages ISBN DOI",
        "author editor bookAuthor translator",
    ),
    "case": _type(
        "caseName=title abstractNote court dateDecided=date docketNumber=number reporter reporterVolume=volume "
        "firstPage=pages url citationKey extra",
        "author counsel",
    ),
    "computerProgram": _type(f"{_COMMON} versionNumber place company=publisher", "programmer contributor"),
    "conferencePaper": _type(
        f"{_COMMON} proceedingsTitle=publicationTitle place publisher volume pages series DOI ISBN", "author editor"
    ),
    "document": _type(f"{_COMMON} publisher", "author editor"),
    "film": _type(f"{_COMMON} distributor=publisher genre=type runningTime", "director scriptwriter producer"),
    "journalArticle": _type(
        f"{_COMMON} publicationTitle volume issue pages series seriesTitle journalAbbreviation DOI ISSN",
        "author editor translator",
    ),
    "patent": _type(
        "title abstractNote country assignee patentNumber=number issueDate=date pages url citationKey extra",
        "inventor attorneyAgent",
    ),
    "preprint": _type(f"{_COMMON} genre=type repository=publisher archiveID=number DOI", "author editor"),
    "report": _type(
        f"{_COMMON} reportNumber=number reportType=type place institution=publisher pages", "author contributor"
    ),
    "statute": _type(
        "nameOfAct=title abstractNote code publicLawNumber=number dateEnacted=date pages url citationKey extra",
        "author",
    ),
    "thesis": _type(f"{_COMMON} thesisType=type university=publisher place numPages", "author contributor"),
    "webpage": _type(f"{_COMMON} websiteTitle=publicationTitle websiteType=type", "author translator"),
}
"""The item types of the sample: a part of Zotero's forty."""

# A column after `[N]` is there from version N of the schema on.
_TABLES = """
version: schema TEXT PRIMARY KEY, version INT NOT NULL
settings: setting TEXT, key TEXT, value, PRIMARY KEY (setting, key)
itemTypes: itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1
itemTypesCombined: itemTypeID INTEGER PRIMARY KEY, typeName TEXT NOT NULL, display INT, custom INT NOT NULL
fields: fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT
fieldsCombined: fieldID INTEGER PRIMARY KEY, fieldName TEXT NOT NULL, label TEXT, fieldFormatID INT, custom INT
itemTypeFields: itemTypeID INT, fieldID INT, hide INT, orderIndex INT, PRIMARY KEY (itemTypeID, orderIndex)
baseFieldMappings: itemTypeID INT, baseFieldID INT, fieldID INT, PRIMARY KEY (itemTypeID, baseFieldID, fieldID)
creatorTypes: creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT
itemTypeCreatorTypes: itemTypeID INT, creatorTypeID INT, primaryField INT, PRIMARY KEY (itemTypeID, creatorTypeID)
libraries: libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT NOT NULL, filesEditable INT NOT NULL,
    version INT NOT NULL, [129] clientVersion INT NOT NULL, storageVersion INT NOT NULL, lastSync INT NOT NULL,
    archived INT NOT NULL, [125] isAdmin INT NOT NULL
users: userID INTEGER PRIMARY KEY, name TEXT NOT NULL
groups: groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE, name TEXT NOT NULL, description TEXT NOT NULL,
    version INT NOT NULL
items: itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    dateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL,
    version INT NOT NULL DEFAULT 0, [129] clientVersion INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0,
    UNIQUE (libraryID, key)
itemDataValues: valueID INTEGER PRIMARY KEY, value UNIQUE, [126] valueNormalized TEXT
itemData: itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID)
itemNotes: itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT
itemAttachments: itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, charsetID INT, path TEXT,
    syncState INT DEFAULT 0, storageModTime INT, storageHash TEXT, lastProcessedModificationTime INT, [124] lastRead INT
itemAnnotations: itemID INTEGER PRIMARY KEY, parentItemID INT NOT NULL, type INTEGER NOT NULL, authorName TEXT,
    text TEXT, [126] textNormalized TEXT, comment TEXT, [126] commentNormalized TEXT, color TEXT, pageLabel TEXT,
    sortIndex TEXT NOT NULL, position TEXT NOT NULL, isExternal INT NOT NULL
tags: tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, [126] nameNormalized TEXT
itemTags: itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID)
creators: creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT, [126] firstNameNormalized TEXT,
    [126] lastNameNormalized TEXT, UNIQUE (lastName, firstName, fieldMode)
itemCreators: itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL, orderIndex INT NOT NULL,
    PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex), UNIQUE (itemID, orderIndex)
feeds: libraryID INTEGER PRIMARY KEY, name TEXT NOT NULL, url TEXT NOT NULL UNIQUE, lastUpdate TIMESTAMP,
    lastCheck TIMESTAMP, lastCheckError TEXT, cleanupReadAfter INT, cleanupUnreadAfter INT, refreshInterval INT
feedItems: itemID INTEGER PRIMARY KEY, guid TEXT NOT NULL UNIQUE, readTime TIMESTAMP, translatedTime TIMESTAMP
deletedItems: itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL
retractedItems: itemID INTEGER PRIMARY KEY, data TEXT, flag INT DEFAULT 0
"""

_INDEXES = ("itemData(fieldID)", "itemData(valueID)", "itemNotes(parentItemID)", "itemAttachments(parentItemID)")


def statements(userdata: int) -> Iterator[str]:
    """The statements that make the tables of a database of this version."""
    for line in _TABLES.replace("\n    ", " ").strip().splitlines():
        table, _, columns = line.partition(": ")
        there = re.sub(
            r", \[(\d+)\] ([^,]+)", lambda column: f", {column[2]}" if userdata >= int(column[1]) else "", columns
        )
        yield f"CREATE TABLE {table} ({there})"
    for column in _INDEXES:
        yield f"CREATE INDEX {column.rstrip(')').replace('(', '_')} ON {column}"

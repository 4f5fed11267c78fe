"""Finding packages by a list of names and places. Loaded by file before anything else of yazcore can be found."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType


class PackageMap(importlib.abc.MetaPathFinder):
    """Finds what it has a place for, before every path: a package by its folder, a module by its file.

    So an editable installation opens the package's folder alone: what lies beside it stays closed.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the package or module of that name is; None for others."""
        place = self._places.get(name)
        if place is None:
            return None
        if place.endswith(".py"):
            return importlib.util.spec_from_file_location(name, place)
        return importlib.util.spec_from_file_location(
            name, os.path.join(place, "__init__.py"), submodule_search_locations=[place]
        )

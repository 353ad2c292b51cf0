"""The part of a page's data that is about several modules: what they share is there once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hlotool.graph.numbering import Strings
from hlotool.graph.page_data import module_document
from hlotool.graph.page_tables import PageTables
from hlotool.graph.pieces import Pieces
from hlotool.ir.garbage import rare_collection
from hlotool.ir.module import Module


class PageStates:
    """Modules of one page, such as the states of a run of passes.

    What the page adds to `strings` gets into its document as well.
    """

    def __init__(self, modules: Iterable[Module]) -> None:
        self._tables = PageTables()
        self._pieces = Pieces()
        self.strings: Strings = self._tables.strings
        self.texts: list[str] = []
        """The text of each module."""
        self.titles: list[str] = []
        """The name of each module."""
        with rare_collection():
            for module in modules:
                self._add(module)

    def _add(self, module: Module) -> None:
        own = module_document(module, self._tables)
        self.texts.append(own["text"])
        self.titles.append(own["title"])
        self._pieces.add(own)

    def entries(self, shown: int) -> dict[str, Any]:
        """Returns the entries of a document that shows one of the modules first."""
        pieces, numbers = self._pieces.listed()
        return {
            **self._tables.entries(),
            "title": self.titles[shown],
            "pieces": pieces,
            "own": numbers[shown],
            "modules": [*numbers[:shown], None, *numbers[shown + 1 :]],
            "passes": [],
            "decisions": [],
            "difference": None,
        }

"""A small knowledge base with real stores: its documents, its glossary, and how it is created and opened."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from argot.settings import Settings

TINY_DOCUMENTS = {
    "nand-layout.md": """# NAND layout guide

## Peripheral Under Cell

Peripheral Under Cell places the peripheral circuits under the memory array. It saves 25 percent of the die area.
The bonding step of Peripheral Under Cell needs a clean room of class 10.

## Word Line

A Word Line connects the control gates of one page. The Word Line voltage during a read is 4.5 V.
""",
    "tariff-filing.md": """# Tariff filing handbook

## Public Utilities Commission

The Public Utilities Commission approves every electricity tariff. A tariff must be filed with the Public Utilities
Commission 30 days before it takes effect.

## Penalties

A late tariff filing costs 500 dollars a day.
""",
    "drive-tool.md": """# Drive tool manual

## Trimming a drive

To trim a drive, open the Media panel and click on Trim. Trimming a drive takes about 40 seconds.
The FTLX module remaps worn blocks in the background.
""",
}
TINY_SECRET = """# Vault handbook

The vault combination is rotated every 14 days by the Vault Liaison Team.
"""
TINY_CONTEXTS = (
    ("NAND", "Memory cells, layout and word lines of NAND flash chips", "nina@example.com"),
    ("Legal", "Tariffs, filings and regulation of utilities", "leo@example.com"),
    ("Tools", "Software tools for drives", ""),
)
TINY_SENSES = (
    ("PUC", "NAND", "Peripheral Under Cell", "circuits under the memory array"),
    ("PUC", "Legal", "Public Utilities Commission", "the authority that approves tariffs"),
    ("WL", "NAND", "Word Line", "connects the control gates of one page"),
    ("TFL", "Legal", "tariff filing", ""),
    ("MPL", "Tools", "Media panel", ""),
)


@dataclass
class TinyBase:
    """Stores in a folder of the test. `insider` belongs to the group that may read the vault handbook."""

    folder: Path
    settings: Settings
    corpus: Any
    glossary: Any

    def run_context(self, principal: Any = None, **profile: Any) -> Any:
        """Return a RunContext without a language model; keywords change the default profile."""
        from argot.graph.run_context import build_extractive_context
        from argot.profile import Profile
        from argot.types import Principal

        someone = principal or Principal("ann")
        return build_extractive_context(self.corpus, self.glossary, someone, Profile(**profile), self.settings)

    def add(self, name: str, text: str, audience: frozenset[str] = frozenset()) -> None:
        from argot.corpus.corpus import Source
        from argot.tools.retrieval.triple_extraction import ExtractiveDeriver

        source = Source(uri=f"test:///{name}", name=name, load=text.encode)
        for event in self.corpus.add([source], deriver=ExtractiveDeriver(), audience=audience, tags=()):
            assert event.kind != "failed", event.detail


def make_tiny(home: Path) -> None:
    from argot.tools.retrieval.scorer_choice import load_scorer

    load_scorer(Settings())  # so that no test is the one that waits until the reader is made
    base = open_base(home)
    fill_tiny(base)
    close_base(base)


def fill_tiny(base: TinyBase) -> None:
    for name, description, contact in TINY_CONTEXTS:
        base.glossary.contexts.add(name, description, contact)
    for sense in TINY_SENSES:
        base.glossary.senses.add(*sense)
    base.glossary.senses.add("VLT", "Tools", "Vault Liaison Team", audience=frozenset({"vault"}))
    for name, text in TINY_DOCUMENTS.items():
        base.add(name, text)
    base.add("vault-handbook.md", TINY_SECRET, audience=frozenset({"vault"}))


def open_base(folder: Path) -> TinyBase:
    from argot.corpus.corpus import Corpus
    from argot.jargon_db.glossary import Glossary

    settings = Settings(home=folder)
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Corpus.open(folder, settings, embedder=_embedder())
    return TinyBase(folder, settings, corpus, Glossary.open(folder / "glossary.db"))


@cache
def _embedder() -> Any:
    """Load the embedder once for all tests: loading takes longer than most of them."""
    from argot.corpus.embedding.embedder import load_embedder

    return load_embedder(Settings())


def close_base(base: TinyBase) -> None:
    base.glossary.close()
    base.corpus.close()

"""What many tests need: settings of their own, and a small knowledge base with real stores, built once and copied."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

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
    """Stores in a folder of the test's own. `insider` belongs to the group that may read the vault handbook."""

    folder: Path
    settings: Settings
    corpus: Any
    glossary: Any

    def run_context(self, principal: Any = None, **profile: Any) -> Any:
        """A RunContext without a language model; keywords change the default profile."""
        from argot.graph.context import extractive_context
        from argot.profile import Profile
        from argot.types import Principal

        someone = principal or Principal("ann")
        return extractive_context(self.corpus, self.glossary, someone, Profile(**profile), self.settings)

    def add(self, name: str, text: str, audience: frozenset[str] = frozenset()) -> None:
        from argot.corpus.ingest import Source
        from argot.tools.triples import ExtractiveDeriver

        source = Source(uri=f"test:///{name}", name=name, load=text.encode)
        for event in self.corpus.add([source], deriver=ExtractiveDeriver(), audience=audience, tags=()):
            assert event.kind != "failed", event.detail


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "kb")


@pytest.fixture(scope="session")
def tiny_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small knowledge base; copy it, never open it."""
    folder = tmp_path_factory.mktemp("tiny") / "kb"
    base = _open(folder)
    for name, description, contact in TINY_CONTEXTS:
        base.glossary.add_context(name, description, contact)
    for sense in TINY_SENSES:
        base.glossary.add_sense(*sense)
    base.glossary.add_sense("VLT", "Tools", "Vault Liaison Team", audience=frozenset({"vault"}))
    for name, text in TINY_DOCUMENTS.items():
        base.add(name, text)
    base.add("vault-handbook.md", TINY_SECRET, audience=frozenset({"vault"}))
    _close(base)
    return folder


@pytest.fixture
def tiny_kb(tiny_home: Path, tmp_path: Path) -> Iterator[TinyBase]:
    base = _open(shutil.copytree(tiny_home, tmp_path / "kb"))
    yield base
    _close(base)


@pytest.fixture
def empty_kb(tmp_path: Path) -> Iterator[TinyBase]:
    base = _open(tmp_path / "kb")
    yield base
    _close(base)


def _open(folder: Path) -> TinyBase:
    from argot.corpus.ingest import Corpus
    from argot.jargon_db.glossary import Glossary

    settings = Settings(home=folder)
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Corpus.open(folder, settings, embedder=_embedder())
    return TinyBase(folder, settings, corpus, Glossary.open(folder / "glossary.db"))


@cache
def _embedder() -> Any:
    """One for all tests: loading it takes longer than most of them."""
    from argot.corpus.embedding import embedder_for

    return embedder_for(Settings())


def _close(base: TinyBase) -> None:
    base.glossary.close()
    base.corpus.close()

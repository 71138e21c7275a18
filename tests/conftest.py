"""What many tests need: settings of their own, and a small knowledge base with real stores, built once and copied."""

import fcntl
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import getproxies

import hypothesis
import pytest

from argot.settings import Settings

LONGEST_FIRST = (
    "test_vllm.py",
    "test_chat.py",
    "test_chat_walk.py",
    "test_api_truth.py",
    "test_sign_in.py",
    "test_pages_browser.py",
    "test_cli.py",
    "test_derive.py",
)
"""Files that take longest: begun at the end they would be waited for by one process while the others are done."""
OF_OTHERS = ("browser", "vllm")
"""Marks of tests that drive a program of others. One that fails is tried once more, and the report names it: what fails
twice fails.
"""

# Examples are made on busy machines too. In continuous integration hypothesis has a profile of its own that says so.
if hypothesis.settings.get_current_profile_name() == "default":
    slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("argot", deadline=None, suppress_health_check=slow)
    hypothesis.settings.load_profile("argot")

# What somebody has set for a knowledge base of their own, or for colours, is none of these tests' business; and a proxy
# is for what leaves this machine.
KEPT = {"ARGOT_CACHE", "ARGOT_SCREENSHOTS", "ARGOT_THREADS"}
for name in [one for one in os.environ if one.startswith("ARGOT_")]:
    if name not in KEPT:
        del os.environ[name]
os.environ.pop("FORCE_COLOR", None)
for name in ("NO_PROXY", "no_proxy") if getproxies() else ():
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "localhost", "127.0.0.1", "::1"]))

# Processes that share the tests share the processor too.
if os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") != "1":
    os.environ.setdefault("ARGOT_THREADS", "1")

# Where the tests run in the background, Ctrl+C is ignored, and would be by every process they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; the rest in the order it is in."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))
    for item in items:
        if any(item.get_closest_marker(name) for name in OF_OTHERS):
            item.add_marker(pytest.mark.flaky(retries=1))


@dataclass
class TinyBase:
    """Stores in a folder of the test's own. `insider` belongs to the group that may read the vault handbook."""

    folder: Path
    settings: Settings
    corpus: Any
    glossary: Any

    def run_context(self, principal: Any = None, **profile: Any) -> Any:
        """A RunContext without a language model; keywords change the default profile."""
        from argot.graph.run_context import extractive_context
        from argot.profile import Profile
        from argot.types import Principal

        someone = principal or Principal("ann")
        return extractive_context(self.corpus, self.glossary, someone, Profile(**profile), self.settings)

    def add(self, name: str, text: str, audience: frozenset[str] = frozenset()) -> None:
        from argot.corpus.corpus import Source
        from argot.tools.retrieval.triple_extraction import ExtractiveDeriver

        source = Source(uri=f"test:///{name}", name=name, load=text.encode)
        for event in self.corpus.add([source], deriver=ExtractiveDeriver(), audience=audience, tags=()):
            assert event.kind != "failed", event.detail


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "kb")


@pytest.fixture
def scripted_model() -> Iterator[Any]:
    """A `ScriptedServer` (scripted_server.py), started; nothing is remembered of servers of other tests."""
    from scripted_server import ScriptedServer

    from argot.tools.llm.model_server import forget_servers

    forget_servers()
    server = ScriptedServer().start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def shared_model() -> Iterator[Any]:
    """A `ScriptedServer` for a service that the tests of a module share; `reset()` it before each."""
    from scripted_server import ScriptedServer

    server = ScriptedServer().start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless Chromium. While it is open, an event loop of Playwright's runs in the tests' own thread: what runs
    one itself belongs in another thread or process (`serving.argot`).
    """
    from serving import CHROMIUM, PATIENCE

    if CHROMIUM is None:
        message = "no chromium found: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=1000 * PATIENCE)
        yield started
        started.close()


@pytest.fixture(scope="session")
def tiny_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small knowledge base; copy it, never open it. Processes that share the tests share it: the
    first makes it, and with it the exported embedder.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    made, home = folder / "tiny-made", folder / "tiny" / "kb"
    with (folder / "tiny-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(home, ignore_errors=True)
            _make_tiny(home)
            made.touch()
    return home


def _make_tiny(home: Path) -> None:
    base = _open(home)
    for name, description, contact in TINY_CONTEXTS:
        base.glossary.contexts.add(name, description, contact)
    for sense in TINY_SENSES:
        base.glossary.senses.add(*sense)
    base.glossary.senses.add("VLT", "Tools", "Vault Liaison Team", audience=frozenset({"vault"}))
    for name, text in TINY_DOCUMENTS.items():
        base.add(name, text)
    base.add("vault-handbook.md", TINY_SECRET, audience=frozenset({"vault"}))
    _close(base)


@pytest.fixture
def glossary(tmp_path: Path) -> Iterator[Any]:
    """An empty glossary, in `glossary.db` of the test's folder."""
    from argot.jargon_db import Glossary

    opened = Glossary.open(tmp_path / "glossary.db")
    yield opened
    opened.close()


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
    from argot.corpus.corpus import Corpus
    from argot.jargon_db.glossary import Glossary

    settings = Settings(home=folder)
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Corpus.open(folder, settings, embedder=_embedder())
    return TinyBase(folder, settings, corpus, Glossary.open(folder / "glossary.db"))


@cache
def _embedder() -> Any:
    """One for all tests: loading it takes longer than most of them."""
    from argot.corpus.embedding.embedder import embedder_for

    return embedder_for(Settings())


def _close(base: TinyBase) -> None:
    base.glossary.close()
    base.corpus.close()

"""Tests of a sync with derivation, killed (`kill -9`) and run again: it ends with the ids and rows of a clean run.

The model is an HTTP server that always gives the same reply for the same passage. By default six points are tried;
all fifty with:

    KILL_POINTS=50 pytest tests/service/documents/test_killed_derivation.py
"""

import asyncio
import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Any

import killing
import pytest

from argot.corpus.connectors import synchronisation
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.corpus import Corpus
from argot.corpus.ingestion import document_group
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.background_derivation import derive_due
from argot.service.usecases.documents.sources import source_sync
from argot.service.usecases.usecase_registry import get_outcome
from argot.settings import Settings

POINTS = int(os.environ.get("KILL_POINTS", "4"))
SURELY = 0.88
"""Of the steps of one run: another has about as many, since sync and derivation run beside each other."""
PARTS = ("before", "after")


def settings_of(home: Path, url: str) -> Settings:
    return Settings(home=home, threads=1, passage_chars=200, model_url=url, model_seconds=60)


def work(home: Path, folder: Path, url: str) -> None:
    """Sync, change much, and sync again, with background derivation beside, in a process that may be killed."""
    document_group.GROUP_DOCUMENTS = 2
    synchronisation.NOTE_BATCH_DOCUMENTS = 2
    asyncio.run(_synced_and_derived(home, folder, url))


async def _synced_and_derived(home: Path, folder: Path, url: str) -> None:
    async with KnowledgeBase.open(home, settings_of(home, url), create=True) as kb:
        sources = SourceStore(kb.document_store.database)
        if not sources.list_sources():
            sources.add(SourceRecord("docs", "folder", str(folder / "now"), {}))
        for part in PARTS:
            if part == "after":
                shutil.rmtree(folder / "now", ignore_errors=True)
            if part == "after" or not (folder / "now").exists():
                shutil.copytree(folder / part, folder / "now")
            syncing = asyncio.create_task(get_outcome(source_sync(kb, make_local_principal(), name="docs")))
            while not syncing.done():
                await derive_due(kb)
                await asyncio.sleep(0.01)
            report = await syncing
            assert report.state == "synced", report.detail
            await derive_due(kb)


def page(path: Path, word: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"# About {word}\n\nTo open the {word}, click on the {word} panel. It stands in hall nine, and is large.\n\n"
        f"## Care of it\n\nThe {word} is oiled every second week by whoever is on duty, with oil of the grade named "
        f"in the list of oils that hangs beside the {word} in hall nine.\n\n"
        f"## Its power\n\n| mode | power |\n|---|---|\n| idle {word} | 2 W |\n| busy {word} | 9 W |\n"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("docs")
    before, after = (made / part for part in PARTS)
    for word in ("kept", "changed", "moved", "gone"):
        page(before / f"{word}.md", word)
    shutil.copytree(before, after)
    page(after / "changed.md", "mended")
    (after / "sub").mkdir()
    (after / "moved.md").rename(after / "sub" / "moved.md")
    (after / "gone.md").unlink()
    page(after / "new.md", "new")
    return made


@pytest.fixture(scope="module")
def model(shared_model: Any) -> Any:
    def given(request: Any, name: str) -> str:
        found = re.findall(rf"<{name}>\n(.*?)\n</{name}>", request.user, re.DOTALL)
        return " ".join(found[0].split()) if found else ""

    def chained(request: Any) -> dict[str, str]:
        # A different previous summary gives a different summary, which shows any chain that a kill broke.
        before = hashlib.sha256(given(request, "previous").encode()).hexdigest()[:8]
        return {"summary": f"{given(request, 'passage')[:150]} After {before}."}

    def triple(request: Any) -> dict[str, Any]:
        found = re.findall(r"open the (\w+), click", given(request, "passage"))
        return {"triples": [{"source": f"{one} panel", "action": "open", "target": one} for one in found]}

    shared_model.context = 32_000
    shared_model.reply("triples", triple)
    shared_model.reply("expert_summary", lambda request: {"summary": given(request, "passage")[:600]})
    shared_model.reply("summary_after", chained)
    shared_model.reply("questions", lambda request: {"questions": [f"Is it {given(request, 'passage')[-60:]}?"]})
    shared_model.reply("table_description", lambda request: f"The table says {given(request, 'table')}")
    return shared_model


TOLD = {
    "documents": "SELECT id, uri, title, tags, revision FROM documents",
    "passages": "SELECT id, document, revision, ordinal, text, header FROM passages",
    "derived": "SELECT id, document, kind, text, prompt, model FROM derived",
    "links": "SELECT derived, passage, ordinal FROM derived_passages",
    "triples": "SELECT id, document, source, action, target, passage, prompt, model FROM triples",
    "derivations": "SELECT passage, kind, document, prompt, model FROM derivations",
    "states": "SELECT document, wanted, state, tries, detail FROM derivation_states",
    "vectors": "SELECT item, kind, document, windows FROM vectors",
    "items": "SELECT uri, outcome, document, content_hash FROM source_items",
    "left to do": "SELECT document FROM ledger UNION ALL SELECT document FROM vector_deletions",
}


def told(home: Path) -> dict[str, Any]:
    """Return everything stored except row numbers and times; vectors by their ids."""
    corpus = Corpus.open(home, Settings(threads=1))
    try:
        assert corpus.check() == []
        connection = corpus.store.database.connection()
        rows = {name: sorted(connection.execute(sql)) for name, sql in TOLD.items()}
        index = {name: sorted(corpus.vectors.ids(name)) for name in corpus.vectors.counts()}
        return {**rows, "index": index, "originals": sorted(corpus.store.blobs)}
    finally:
        corpus.close()


@pytest.fixture(scope="module")
def clean(folder: Path, model: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int, dict[str, Any]]:
    """Return the steps of a clean run, its calls to the model, and its final state."""
    home = tmp_path_factory.mktemp("clean") / "kb"
    steps = killing.steps_of(work, home, folder, model.url)
    return steps, len(model.asked()), told(home)


@pytest.mark.slow
@pytest.mark.parametrize("share", [SURELY * share for share in killing.shares(POINTS)])
def test_a_killed_sync_with_derivation_ends_in_the_same_state(
    folder: Path, model: Any, clean: tuple[int, int, dict[str, Any]], share: float, tmp_path: Path
) -> None:
    steps, calls, expected = clean
    kinds = {row[2] for row in expected["derived"]} | {"triple" for _ in expected["triples"]}
    assert kinds == {"expert_summary", "summary", "question", "description", "triple"} and not expected["left to do"]
    shutil.rmtree(folder / "now")
    asked = len(model.asked())
    killing.killed(work, tmp_path / "kb", folder, model.url, share=share, steps=steps)
    killing.steps_of(work, tmp_path / "kb", folder, model.url)
    assert told(tmp_path / "kb") == expected
    # Only the call in progress is made twice.
    assert len(model.asked()) - asked <= calls + 1

"""Deriving texts from stored documents: what is kept, made once, replaced and removed, and that a kill loses no more
than the passages in progress.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import killing
import pytest
from older_base import before_sources
from serving import PATIENCE

from argot.corpus.corpus import Corpus
from argot.corpus.ingestion import derivation as deriving
from argot.corpus.ingestion.derivation import DerivedBatch, Recipe
from argot.errors import Conflict, InvalidInput, InvalidSettings, ModelUnavailable, NotAllowed, NotFound
from argot.profile import Profile
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.types import DerivedText, Passage, Principal, Triple
from argot.ui.cli.main import main

ROOT = Principal("root", sees_all=True)
MANAGER = Principal("mona", frozenset({"managers"}))
ASKER = Principal("olga")
QUESTION = Recipe("question", "questions@1", "m")
TRIPLE = Recipe("triple", "triples@1", "m")
SUMMARY = Recipe("summary", "summary_after@1", "m")
NEWER = Recipe("question", "questions@2", "m")
LONG = "# Device handbook\n\n" + "".join(
    f"## Device {n}\n\n"
    + f"Device {n} is built in hall {n} and weighs {n} kg, as the label of hall {n} says. " * 14
    + "\n\n"
    for n in range(10, 20)
)
"""Ten passages, which the small base lacks: each of its documents is one."""


@pytest.fixture(scope="module")
def long_home(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from argot.corpus.corpus import Source

    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("long") / "kb"))
    corpus = Corpus.open(home, Settings(home=home, threads=1))
    list(corpus.add([Source("test:///handbook.md", "handbook.md", LONG.encode)]))
    assert len(passages(corpus, "handbook.md")) == 10
    corpus.close()
    return home


@pytest.fixture
def corpus(long_home: Path, tmp_path: Path) -> Iterator[Corpus]:
    home = shutil.copytree(long_home, tmp_path / "kb")
    opened = Corpus.open(home, Settings(home=home, threads=1))
    yield opened
    opened.close()


def passages(corpus: Corpus, name: str = "handbook.md") -> list[Passage]:
    return corpus.store.passages_of(ROOT, corpus.store.document(ROOT, name).id)


def asked(recipe: Recipe, of: Passage, *texts: str) -> DerivedBatch:
    made = [DerivedText("", "question", text, (of.id,), recipe.prompt, recipe.model) for text in texts]
    return DerivedBatch(recipe, [of], made)


def named(recipe: Recipe, of: Passage, *triples: tuple[str, str, str]) -> DerivedBatch:
    return DerivedBatch(recipe, [of], (), [Triple("", *parts, of.id) for parts in triples])


def keep(corpus: Corpus, *made: DerivedBatch) -> int:
    with corpus.changing() as parts:
        return deriving.keep(parts, made)


def rows(corpus: Corpus, table: str) -> list[tuple[Any, ...]]:
    return list(corpus.store.database.connection().execute(f"SELECT * FROM {table} ORDER BY 1, 2"))


def to_do(corpus: Corpus, *recipes: Recipe, renew: bool = False, name: str = "handbook.md") -> list[tuple[str, str]]:
    document = corpus.store.document(ROOT, name).id
    tasks = deriving.list_tasks(corpus.store.database.connection(), document, recipes, renew=renew)
    return [(passage, task.recipe.kind) for task in tasks for passage in task.passages]


def texts(corpus: Corpus) -> list[str]:
    return sorted(row[0] for row in corpus.store.database.connection().execute("SELECT text FROM derived"))


def found(corpus: Corpus, question: str, principal: Principal = ROOT) -> list[str]:
    return [hit.passage.id for hit in hybrid_search(corpus, principal, [WeightedQuery(question)], Profile())]


# -- keeping ----------------------------------------------------------------------------------------------------------


def test_a_derived_question_finds_its_passage(corpus: Corpus) -> None:
    """Check the whole search, by words and by meaning, although the passage has no word of the question."""
    of = passages(corpus)[-2]
    wanted = "Which gizmo refurbishes an exhausted pendrive overnight?"
    before = found(corpus, wanted)
    assert keep(corpus, asked(QUESTION, of, wanted)) == 1
    assert found(corpus, wanted)[0] == of.id
    assert of.id not in before[:1]
    hit = hybrid_search(corpus, ROOT, [WeightedQuery(wanted)], Profile())[0]
    assert {"keyword_derived", "semantic_derived"} <= hit.found_by.keys()
    assert corpus.check() == []


def test_one_index_orders_passages_and_derived_texts_by_cosine(corpus: Corpus) -> None:
    """Check RAIDD's index (2.2): a passage is where the nearest of its texts is, and two near texts count no more."""
    first, *_, last = passages(corpus)
    wanted = "Which gizmo refurbishes an exhausted pendrive overnight?"
    keep(corpus, asked(QUESTION, first, wanted), asked(QUESTION, last, f"{wanted} So?", f"{wanted} And how?"))
    profile = Profile(search_keyword=False, one_index=True, adapt_queries=False)
    hits = hybrid_search(corpus, ROOT, [WeightedQuery(wanted)], profile)
    vector = corpus.embedder.embed_queries([wanted])[0]
    cosines = dict(corpus.search_semantic(ROOT, "passage", vector, 50))
    for id_, score in corpus.search_semantic(ROOT, "derived", vector, 50):
        for passage in corpus.store.derived(ROOT, [id_])[id_].passage_ids:
            cosines[passage] = max(score, cosines[passage])
    assert [hit.passage.id for hit in hits] == sorted(cosines, key=lambda id_: (-cosines[id_], id_))
    assert [hit.passage.id for hit in hits[:2]] == [first.id, last.id]
    assert {name for hit in hits for name in hit.found_by} == {"semantic"}


def test_only_derived_texts_of_the_selected_kinds_are_searched(corpus: Corpus) -> None:
    """Check RAIDD's variants: S and Q by their kind, each alone or beside the passages."""
    first, *_, last = passages(corpus)
    wanted = "Which gizmo refurbishes an exhausted pendrive overnight?"
    summary = Recipe("summary", "p", "m")
    text = DerivedText("", "summary", "A gizmo repairs things.", (first.id,), "p", "m")
    # Many questions rank before the one summary: a kind is found even if others fill the list.
    keep(corpus, asked(QUESTION, last, *(f"{wanted} {n}" for n in range(60))), DerivedBatch(summary, [first], [text]))

    def best(**switches: Any) -> list[str]:
        profile = Profile(search_passages=False, **switches)
        return [hit.passage.id for hit in hybrid_search(corpus, ROOT, [WeightedQuery(wanted)], profile)]

    assert best(derived_kinds=("question",)) == [last.id]
    assert best(derived_kinds=("summary",)) == [first.id]
    assert best(derived_kinds=("description",)) == []
    assert best() == [last.id]
    assert best(candidates=100) == [last.id, first.id]
    assert best(search_derived=False) == []


def test_a_text_derived_from_a_section_finds_all_its_passages(corpus: Corpus) -> None:
    of = passages(corpus)
    recipe = Recipe("expert_summary", "e@2", "m")
    # One passage already has its own text, as before sections: the text of its section replaces it.
    old = DerivedText("", "expert_summary", "An old word.", (of[3].id,), "e@1", "m")
    keep(corpus, DerivedBatch(Recipe("expert_summary", "e@1", "m"), [of[3]], [old]))
    assert to_do(corpus, recipe) == [(one.id, "expert_summary") for one in of]
    whole = DerivedText("", "expert_summary", "A gizmo refurbishes pendrives.", tuple(one.id for one in of), "e@2", "m")
    assert keep(corpus, DerivedBatch(recipe, of, [whole])) == 1
    assert texts(corpus) == ["A gizmo refurbishes pendrives."] and to_do(corpus, recipe) == []
    profile = Profile(search_passages=False, derived_kinds=("expert_summary",))
    hits = hybrid_search(corpus, ROOT, [WeightedQuery("Which gizmo refurbishes pendrives?")], profile)
    assert {hit.passage.id for hit in hits} == {one.id for one in of}
    assert corpus.check() == []


def test_a_finished_derivation_is_not_repeated_even_when_empty(corpus: Corpus) -> None:
    first, *others = passages(corpus)
    assert len(to_do(corpus, QUESTION, TRIPLE)) == 2 * (1 + len(others))
    keep(corpus, asked(QUESTION, first), named(TRIPLE, first))
    assert to_do(corpus, QUESTION, TRIPLE) == [(p.id, kind) for kind in ("question", "triple") for p in others]
    assert texts(corpus) == []
    # the same result again, as two concurrent runs may give it
    assert keep(corpus, asked(QUESTION, first, "What is it for?")) == 0
    assert texts(corpus) == []


def test_texts_derived_at_ingest_count_as_made(corpus: Corpus) -> None:
    class Deriver:
        name = "at ingest"

        async def triples(self, _: Any) -> list[Triple]:
            return []

        async def derived_texts(self, of: Any) -> list[DerivedText]:
            return [DerivedText("", "question", "What is new?", (of[0].id,), "old", "m")]

    from argot.corpus.corpus import Source

    text = b"# Pump\n\nThe pump pumps.\n\n## Valve\n\nThe valve opens at 7 bar.\n"
    list(corpus.add([Source("test:///pump.md", "pump.md", lambda: text)], deriver=Deriver()))
    first, *others = passages(corpus, "pump.md")
    assert to_do(corpus, QUESTION, name="pump.md") == [(p.id, "question") for p in others]
    assert (first.id, "question") in to_do(corpus, QUESTION, name="pump.md", renew=True)
    keep(corpus, asked(QUESTION, first, "What does the pump do?"))
    assert texts(corpus) == ["What does the pump do?"]
    assert corpus.check() == []


def test_another_prompt_or_model_replaces_texts_only_on_request(corpus: Corpus) -> None:
    first, *others = passages(corpus)
    keep(corpus, asked(QUESTION, first, "Old one?", "Old two?"))
    assert to_do(corpus, NEWER) == [(p.id, "question") for p in others]
    assert len(to_do(corpus, NEWER, renew=True)) == 1 + len(others)
    keep(corpus, asked(NEWER, first, "New one?"))
    assert texts(corpus) == ["New one?"]
    assert to_do(corpus, NEWER, renew=True) == to_do(corpus, NEWER)
    assert [(one.recipe, one.passages, one.texts) for one in deriving.read_stock(corpus.store.database.connection())
            if one.recipe.kind == "question"] == [(NEWER, 1, 1)]  # fmt: skip
    assert corpus.check() == []


def test_rule_based_triples_are_kept_beside_those_of_the_model(corpus: Corpus) -> None:
    """Check that removing or renewing the model's triples removes only those, even where both agree."""
    (of,) = passages(corpus, "drive-tool.md")
    rules = {row[0] for row in corpus.store.database.connection().execute("SELECT text FROM triples")}
    assert rules == {"Media panel trim drive"}
    keep(corpus, named(TRIPLE, of, ("Media panel", "trim", "drive"), ("Trim", "trim", "drive")))
    newer = Recipe("triple", "triples@2", "m")
    keep(corpus, named(newer, of, ("Trim", "trim", "drive"), ("FTLX module", "remap", "worn blocks")))

    def stored() -> dict[str, str]:
        return dict(corpus.store.database.connection().execute("SELECT text, prompt FROM triples"))

    mine = {"Trim trim drive": "triples@2", "FTLX module remap worn blocks": "triples@2"}
    assert stored() == {**dict.fromkeys(rules, ""), **mine}
    assert corpus.check() == []
    with corpus.changing() as parts:
        assert deriving.take_out(parts, of.document_id, "triple") == 2
    assert stored() == dict.fromkeys(rules, "")
    assert corpus.check() == []


def test_removing_one_kind_removes_its_texts_vectors_and_record(corpus: Corpus) -> None:
    first, second = passages(corpus)[0], passages(corpus, "nand-layout.md")[0]
    vectors = corpus.vectors.counts()
    keep(corpus, asked(QUESTION, first, "One?", "Two?"), asked(QUESTION, second, "Three?"))
    summary = DerivedText("", "summary", "All of it.", (first.id,), SUMMARY.prompt, SUMMARY.model)
    keep(corpus, DerivedBatch(SUMMARY, [first], [summary]))
    with corpus.changing() as parts:
        assert deriving.take_out(parts, first.document_id, "question") == 2
        assert deriving.take_out(parts, first.document_id, "question") == 0
    assert texts(corpus) == ["All of it.", "Three?"]
    assert (first.id, "question") in to_do(corpus, QUESTION)
    assert (first.id, "summary") not in to_do(corpus, SUMMARY)
    assert corpus.store.search_derived_keywords(ROOT, "One Two", 9) == []
    assert sum(corpus.vectors.counts().values()) == sum(vectors.values()) + 2
    assert corpus.check() == []


def test_the_previous_summary_is_that_of_the_nearest_earlier_passage(corpus: Corpus) -> None:
    of = passages(corpus)

    def before(n: int) -> str:
        return deriving.read_previous_summary(corpus.store.database.connection(), of[n])

    assert before(3) == ""
    for n in (0, 1, 3):
        text = DerivedText("", "summary", f"summary {n}", (of[n].id,), SUMMARY.prompt, SUMMARY.model)
        keep(corpus, DerivedBatch(SUMMARY, [of[n]], [text]))
    assert [before(n) for n in range(4)] == ["", "summary 0", "summary 1", "summary 1"]


def test_derived_texts_follow_changes_and_removal_of_their_document(corpus: Corpus) -> None:
    (of,) = passages(corpus, "drive-tool.md")
    keep(
        corpus, asked(QUESTION, of, "Which gizmo refurbishes it?"), named(TRIPLE, of, ("FTLX module", "remap", "block"))
    )
    document = corpus.store.document(ROOT, "drive-tool.md")
    from argot.corpus.ingestion.document_changes import relabel

    with corpus.changing() as parts:
        relabel(parts, document, frozenset({"vault"}), ())
    vector = corpus.embedder.embed_queries(["Which gizmo refurbishes it?"])[0]
    assert corpus.store.search_derived_keywords(ASKER, "gizmo", 9) == []
    assert corpus.search_semantic(ASKER, "derived", vector, 9) == []
    insider = Principal("ina", frozenset({"vault"}))
    assert len(corpus.search_semantic(insider, "derived", vector, 9)) == 1
    assert corpus.check() == []

    from argot.corpus.corpus import Source

    changed = Source("test:///drive-tool.md", "drive-tool.md", b"# Drive tool manual\n\nAll new.\n".strip)
    assert [event.kind for event in corpus.add([changed])] == ["found", "updated", "done"]
    assert rows(corpus, "derived") == rows(corpus, "derivations") == rows(corpus, "derived_passages") == []
    assert keep(corpus, asked(NEWER, of, "Of a passage that is gone?")) == 0
    assert corpus.check() == []

    keep(corpus, asked(QUESTION, passages(corpus, "drive-tool.md")[0], "What is new?"))
    corpus.remove(ROOT, "drive-tool.md")
    assert rows(corpus, "derived") == rows(corpus, "derivations") == []
    assert corpus.check() == []


def test_a_rebuilt_index_contains_the_derived_texts(corpus: Corpus) -> None:
    of = passages(corpus)[-1]
    keep(corpus, asked(QUESTION, of, "Which gizmo refurbishes it?"))
    before = corpus.vectors.counts()
    corpus.reindex()
    assert corpus.vectors.counts() == before
    assert corpus.check() == []
    with corpus.changing() as parts:
        deriving.take_out(parts, of.document_id, "question")
    assert corpus.check() == []


def test_a_knowledge_base_of_an_earlier_version_is_migrated(tiny_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    with sqlite3.connect(home / "corpus.db") as connection:
        before_sources(connection)
        connection.execute("DROP TABLE derivations")
        connection.execute("ALTER TABLE triples DROP COLUMN prompt")
        connection.execute("ALTER TABLE triples DROP COLUMN model")
        connection.execute("ALTER TABLE vectors DROP COLUMN sketch")
        connection.execute("ALTER TABLE passages ADD COLUMN before TEXT NOT NULL DEFAULT ''")
        connection.execute("ALTER TABLE passages ADD COLUMN after TEXT NOT NULL DEFAULT ''")
        connection.execute("UPDATE passages SET before = 'cut', after = 'cut'")
        kept = "'m001_documents', 'm002_derived', 'm003_words', 'm004_ingest'"
        connection.execute(f"DELETE FROM _sqlite_migrations WHERE migration_set = 'corpus' AND name NOT IN ({kept})")
        connection.execute("PRAGMA user_version = 0")  # 0.3 counted by those names
    connection.close()
    corpus = Corpus.open(home, Settings(home=home, threads=1))
    assert keep(corpus, asked(QUESTION, passages(corpus, "drive-tool.md")[0], "What is new?")) == 1
    assert found(corpus, "How long does trimming a drive take?")[0] in {
        one.id for one in passages(corpus, "drive-tool.md")
    }
    assert corpus.check() == []
    columns = {row[1] for row in corpus.store.database.connection().execute("PRAGMA table_info(passages)")}
    assert columns.isdisjoint({"before", "after"})
    corpus.close()


# -- being killed -----------------------------------------------------------------------------------------------------


def work(home: Path) -> None:
    """Derive questions and triples and remove summaries, in a process that may be killed (killing.py)."""
    corpus = Corpus.open(home, Settings(threads=1))
    document = corpus.store.document(ROOT, "handbook.md").id
    newer, triple = Recipe("question", "q@2", "m"), Recipe("triple", "t@1", "m")
    for recipe in (newer, triple):
        for task in deriving.list_tasks(corpus.store.database.connection(), document, [recipe], renew=True):
            ((of, _),) = corpus.store.passages(ROOT, task.passages).values()
            question, parts = asked(newer, of, f"What is {of.ordinal}?"), ("panel", "trim", f"drive {of.ordinal}")
            keep(corpus, question if recipe is newer else named(triple, of, parts))
    with corpus.changing() as parts:
        deriving.take_out(parts, document, "summary")
    corpus.close()


def dump(home: Path) -> Any:
    corpus = Corpus.open(home, Settings(threads=1))
    try:
        assert corpus.check() == []
        connection = corpus.store.database.connection()
        everything = {
            table: sorted((row[1:] for row in rows(corpus, table)), key=repr)
            for table in ("derived", "triples", "vector_deletions", "ledger")
        }
        counted = connection.execute("SELECT item, kind, document, windows FROM vectors")  # sketches: to the last bit
        everything["vectors"] = sorted(counted)
        everything["derivations"] = rows(corpus, "derivations")
        everything["links"] = sorted(connection.execute("SELECT derived, passage FROM derived_passages"))
        index = corpus.vectors
        return {"rows": everything, "vectors": {name: index.ids(name) for name in sorted(index.counts())}}
    finally:
        corpus.close()


@pytest.fixture(scope="module")
def derived_home(long_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a base with questions of an older prompt and summaries, both of which the killed run changes."""
    home = Path(shutil.copytree(long_home, tmp_path_factory.mktemp("derived") / "kb"))
    corpus = Corpus.open(home, Settings(threads=1))
    for of in passages(corpus)[:3]:
        summary = DerivedText("", "summary", f"Summary {of.ordinal}.", (of.id,), SUMMARY.prompt, SUMMARY.model)
        keep(corpus, asked(QUESTION, of, f"What was {of.ordinal}?"), DerivedBatch(SUMMARY, [of], [summary]))
    corpus.close()
    return home


@pytest.fixture(scope="module")
def clean(derived_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Any]:
    home = Path(shutil.copytree(derived_home, tmp_path_factory.mktemp("clean") / "kb"))
    return killing.steps_of(work, home), dump(home)


@pytest.mark.slow
@pytest.mark.parametrize("share", killing.shares(8))
def test_a_killed_derivation_run_again_equals_one_clean_run(
    derived_home: Path, clean: tuple[int, Any], share: float, tmp_path: Path
) -> None:
    steps, expected = clean
    assert steps > 10
    home = Path(shutil.copytree(derived_home, tmp_path / "kb"))
    killing.killed(work, home, share=share, steps=steps)
    dump(home)  # sound as it is
    killing.steps_of(work, home)
    assert dump(home) == expected


# -- the use cases ----------------------------------------------------------------------------------------------------


def about(request: Any) -> dict[str, Any]:
    """Return a question that is kept: it consists of the passage's own words, one of which only it has."""
    (text,) = re.findall(r"<passage>\n(.*)\n</passage>", request.user, re.DOTALL)
    return {"questions": [f"Is it so that {' '.join(text.split()[-8:]).strip('.')}?"]}


@pytest.fixture
async def kb(long_home: Path, tmp_path: Path, scripted_model: Any) -> AsyncIterator[KnowledgeBase]:
    scripted_model.reply("questions", about)
    home = shutil.copytree(long_home, tmp_path / "kb")
    settings = scripted_model.settings(home=home, model_seconds=20, threads=1)
    async with KnowledgeBase.open(home, settings) as opened:
        yield opened


async def call(kb: KnowledgeBase, principal: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, principal, name, **parameters)


async def derive(kb: KnowledgeBase, *kinds: str, as_: Principal = ROOT, **more: Any) -> Any:
    return await call(kb, as_, "derive", kinds=list(kinds), **more)


async def count(kb: KnowledgeBase) -> int:
    return len(texts(await kb.load()))


async def test_every_missing_text_is_derived_once(kb: KnowledgeBase, scripted_model: Any) -> None:
    result = await derive(kb, "question", "description")
    total = (await kb.load()).store.count_passages(ROOT)
    assert (result["made"], result["total"], result["failed"]) == (2 * total, 2 * total, 0)
    assert result["texts"] == total == result["calls"] == len(scripted_model.asked())
    assert result["model"] == "scripted" and result["completion_tokens"] > 0
    again = await derive(kb, "question", "description")
    assert (again["total"], again["calls"]) == (0, 0)
    assert (await kb.load()).check() == []


async def test_progress_is_reported_for_each_passage(kb: KnowledgeBase) -> None:
    parameters = {"kinds": ["question"], "documents": ["handbook.md"]}
    events = [event async for event in catalogue.dispatch(kb, ROOT, "derive", parameters)]
    progress = events[:-1]
    total = len(passages(await kb.load()))
    assert [event["done"] for event in progress] == list(range(total + 1))
    assert {event["total"] for event in progress} == {total}
    assert {event["name"] for event in progress[1:]} == {"handbook.md"}
    assert [row[1] for row in rows(await kb.load(), "derivations")] == ["question"] * total


async def test_four_passages_are_derived_at_once(kb: KnowledgeBase, scripted_model: Any) -> None:
    working: list[int] = []

    def slowly(request: Any) -> dict[str, Any]:
        working.append(sum(not one.done and not one.gone for one in scripted_model.asked()))
        return about(request)

    scripted_model.reply("questions", slowly)
    scripted_model.fault("pause", tokens=0)
    deriving = asyncio.create_task(derive(kb, "question"))
    assert await asyncio.to_thread(scripted_model.wait_until, lambda: len(scripted_model.asked()) >= 4)
    scripted_model.heal()
    await deriving
    assert max(working) == 4


async def test_a_lost_model_server_ends_the_run_and_the_next_one_continues(
    kb: KnowledgeBase, scripted_model: Any
) -> None:
    total = (await kb.load()).store.count_passages(ROOT)
    events = catalogue.dispatch(kb, ROOT, "derive", {"kinds": ["question"]})
    with pytest.raises(ModelUnavailable, match=rf"ARGOT_MODEL_URL.* of {total} are made and stored; the same command"):
        async for event in events:
            if event.get("done") == 1:
                scripted_model.fault("refuse")
    made = await count(kb)
    assert 1 <= made < total
    assert (await kb.load()).check() == []
    with pytest.raises(ModelUnavailable, match="ARGOT_MODEL_URL"):
        await derive(kb, "question")
    scripted_model.heal()
    result = await derive(kb, "question")
    assert (result["made"], result["total"]) == (total - made, total - made)
    assert await count(kb) == total


async def test_a_failed_passage_is_reported_and_retried(kb: KnowledgeBase, scripted_model: Any) -> None:
    def moody(request: Any) -> Any:
        return "Well." if "hall 13" in request.user else about(request)

    scripted_model.reply("questions", moody)
    result = await derive(kb, "question")
    assert (result["failed"], result["made"]) == (1, result["total"] - 1)
    (problem,) = result["problems"]
    assert problem["name"] == "handbook.md" and "JSON" in problem["detail"]
    scripted_model.reply("questions", about)
    assert (await derive(kb, "question"))["made"] == 1


async def test_a_stopped_run_keeps_what_it_reported(kb: KnowledgeBase, scripted_model: Any) -> None:
    scripted_model.speed = 0.01
    events = catalogue.dispatch(kb, ROOT, "derive", {"kinds": ["question"]})
    told = 0
    async for event in events:
        told = event["done"]
        if told == 2:
            break
    await events.aclose()  # type: ignore[attr-defined]
    made = await count(kb)
    assert made >= told
    assert (await kb.load()).check() == []
    assert not kb.writing.locked()
    scripted_model.speed = 0.0
    total = (await kb.load()).store.count_passages(ROOT)
    rest = await derive(kb, "question")
    assert (rest["problems"], rest["made"]) == ([], total - made)


async def test_questions_and_document_changes_work_during_a_run(
    kb: KnowledgeBase, scripted_model: Any, tmp_path: Path
) -> None:
    """Check that a derived text of a document changed in the meantime is discarded."""
    (tmp_path / "pump.md").write_text("# Pump\n\nThe blue valve opens at 7 bar.\n")
    events = catalogue.dispatch(kb, ROOT, "derive", {"kinds": ["question"]})
    scripted_model.fault("pause", tokens=0)
    assert (await anext(events))["kind"] == "progress"
    await call(kb, ROOT, "remove", document="handbook.md")
    await call(kb, ROOT, "add", paths=[str(tmp_path / "pump.md")])
    answer = await call(kb, ASKER, "ask", question="When does the blue valve open?", profile="extractive")
    assert "7 bar" in answer["answer"]
    with pytest.raises(Conflict, match="already"):
        await derive(kb, "question")
    scripted_model.heal()
    async for _ in events:
        pass
    left = {row[0] for row in rows(await kb.load(), "derivations")}
    live = {row[1] for row in rows(await kb.load(), "passages")}
    assert left <= live
    assert (await kb.load()).check() == []


async def test_without_a_model_server_the_error_names_the_setting(tiny_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home, model_url="")) as kb:
        with pytest.raises(InvalidSettings, match="ARGOT_MODEL_URL=http"):
            await derive(kb, "question")


async def test_an_invalid_derivation_request_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match="kinds"):
        await derive(kb, "poem")
    with pytest.raises(InvalidInput, match="kinds"):
        await derive(kb)
    with pytest.raises(NotFound, match=r"no\.md"):
        await derive(kb, "question", documents=["no.md"])
    with pytest.raises(NotAllowed):
        await derive(kb, "question", as_=ASKER)
    for name in ("derived_list", "derived_remove"):
        with pytest.raises(NotAllowed):
            await call(kb, ASKER, name, **({"kinds": ["question"]} if name == "derived_remove" else {}))


async def test_the_prompt_holds_the_previous_summary_of_an_earlier_run(kb: KnowledgeBase, scripted_model: Any) -> None:
    """Check it with a passage whose first reply is unusable: the next run sends the stored summary."""

    def summary(request: Any) -> Any:
        number = re.findall(r"Device (\d+) is built", request.user)[-1]
        return "Well." if number in unwilling else {"summary": f"Device {number} comes from hall {number}."}

    unwilling = {"13", "14"}
    scripted_model.reply("summary_after", summary)
    first = await derive(kb, "summary", documents=["handbook.md"])
    assert (first["failed"], first["made"]) == (2, 8)
    unwilling.clear()
    before = len(scripted_model.asked())
    await derive(kb, "summary", documents=["handbook.md"])
    previous = [re.findall(r"<previous>\n(.*)\n</previous>", one.user) for one in scripted_model.asked()[before:]]
    assert previous == [["Device 12 comes from hall 12."], ["Device 13 comes from hall 13."]]


# -- who may know -----------------------------------------------------------------------------------------------------


async def test_a_manager_derives_only_from_readable_documents(kb: KnowledgeBase, scripted_model: Any) -> None:
    """Check that a hidden document's text is not sent to the model, and not listed or removed."""
    await derive(kb, "question", as_=MANAGER)
    assert not any("vault" in request.user.casefold() for request in scripted_model.asked())
    await derive(kb, "question")
    assert any("vault" in request.user.casefold() for request in scripted_model.asked())
    everything, seen = [await call(kb, who, "derived_list") for who in (ROOT, MANAGER)]
    assert everything["passages"] > seen["passages"]

    def questions(listed: Any) -> int:
        return sum(row["texts"] for row in listed["rows"] if row["kind"] == "question")

    assert questions(everything) > questions(seen)
    removed = await call(kb, MANAGER, "derived_remove", kinds=["question"])
    assert removed["removed"] == {"question": questions(seen)}
    assert await count(kb) == questions(everything) - questions(seen)
    with pytest.raises(NotFound):
        await derive(kb, "question", as_=MANAGER, documents=["vault-handbook.md"])


async def test_a_canary_in_a_derived_text_is_found_by_its_readers_alone(kb: KnowledgeBase, scripted_model: Any) -> None:
    """Check it also for a canary that is only in a derived text and its triple, not in the passage."""
    corpus = await kb.load()
    (of,) = passages(corpus, "vault-handbook.md")
    keep(corpus, asked(QUESTION, of, "When does the quillfeather hatch in the vault?"))
    keep(corpus, named(TRIPLE, of, ("quillfeather", "hatch", "vault")))
    insider = Principal("ina", frozenset({"vault"}))
    for who, reads in ((insider, True), (ROOT, True), (ASKER, False), (MANAGER, False)):
        vector = corpus.embedder.embed_queries(["When does the quillfeather hatch?"])[0]
        store = corpus.store
        roads = [
            store.search_derived_keywords(who, "quillfeather", 9),
            store.search_triple_keywords(who, "quillfeather", 9),
            [one for one in corpus.search_semantic(who, "derived", vector, 9) if one[1] > 0.5],
            list(store.derived(who, [row[1] for row in rows(corpus, "derived")])),
            [one for one in found(corpus, "quillfeather", who) if one == of.id],
        ]
        assert [bool(road) for road in roads] == [reads] * len(roads), who
        answer = await call(kb, who, "ask", question="When does the quillfeather hatch?", profile="extractive")
        assert ("vault" in json.dumps(answer).casefold()) is reads


# -- the command ------------------------------------------------------------------------------------------------------

Argot = Callable[..., tuple[int, str, str]]


@pytest.fixture
def argot(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    long_home: Path,
    tmp_path: Path,
    scripted_model: Any,
) -> Argot:
    scripted_model.reply("questions", about)
    monkeypatch.setenv("ARGOT_HOME", str(shutil.copytree(long_home, tmp_path / "kb")))
    monkeypatch.setenv("ARGOT_MODEL_URL", scripted_model.url)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return int(ended.value.code or 0), out, err

    return run


def test_the_command_derives_lists_and_removes(argot: Argot) -> None:
    code, out, _ = argot("derive", "--kind", "question", "handbook.md")
    assert code == 0 and out.startswith("10 texts and 0 triples of 10 passages (scripted, 10 calls")
    assert argot("derive", "--kind", "question", "handbook.md")[1] == "Nothing was missing.\n"
    rows_ = [row.split("\t") for row in argot("derive", "--list")[1].splitlines()]
    assert [row[:2] for row in rows_] == [["question", "10"], ["triple", rows_[1][1]]]
    assert rows_[0][4].startswith("questions@") and rows_[0][5] == "scripted"
    assert rows_[1][4] == "came with the documents"
    assert json.loads(argot("derive", "--list", "--json")[1])["rows"][0]["outdated"] is False
    assert argot("derive", "--remove", "question")[1] == "Removed 10 of kind question.\n"
    assert "question" not in argot("derive", "--list")[1]


@pytest.mark.parametrize("wrong", [(), ("--list", "--kind", "question"), ("--kind", "poem"), ("--remove", "poem")])
def test_an_invalid_command_line_is_refused(argot: Argot, wrong: tuple[str, ...]) -> None:
    code, _, err = argot("derive", *wrong)
    assert code == 2
    assert "--kind" in err or "question" in err


def test_failures_are_named_and_set_the_exit_code(argot: Argot, scripted_model: Any) -> None:
    scripted_model.fault("invalid_json")
    code, out, err = argot("derive", "--kind", "question", "tariff-filing.md")
    assert code == 1
    assert "failed: tariff-filing.md, question" in err and "tries them again" in out
    scripted_model.heal()
    scripted_model.fault("refuse")
    code, _, err = argot("derive", "--kind", "question")
    assert code == 1 and "ARGOT_MODEL_URL" in err


def test_a_killed_command_loses_only_the_passages_in_progress(
    argot: Argot, tmp_path: Path, scripted_model: Any
) -> None:
    scripted_model.speed = 0.1
    command = [sys.executable, "-m", "argot.ui.cli.main", "derive", "--kind", "question"]
    process = subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reached = scripted_model.wait_until(lambda: len(scripted_model.asked()) >= 6)
    process.kill()
    process.wait()
    assert reached and scripted_model.wait_until(scripted_model.alone)
    scripted_model.speed = 0.0
    before = len(scripted_model.asked())
    code, out, _ = argot("derive", "--kind", "question", "--json")
    result = json.loads(out)
    assert code == 0
    corpus = Corpus.open(tmp_path / "kb", Settings(threads=1))
    total = corpus.store.count_passages(ROOT)
    assert len(texts(corpus)) == total
    assert corpus.check() == []
    corpus.close()
    # At most four were being derived and four more were being stored.
    assert result["made"] == len(scripted_model.asked()) - before <= total - (before - 8)
    assert result["made"] < total or before <= 8


def test_stopping_the_command_ends_the_requests_to_the_model_server(argot: Argot, scripted_model: Any) -> None:
    scripted_model.fault("pause", tokens=0)
    command = [sys.executable, "-m", "argot.ui.cli.main", "derive", "--kind", "question"]
    process = subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert scripted_model.wait_until(lambda: len(scripted_model.asked()) >= 4)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (0, None)
    assert b"Traceback" not in err
    assert scripted_model.wait_until(lambda: all(one.gone or one.done for one in scripted_model.asked()))

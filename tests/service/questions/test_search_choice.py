"""Tests of choosing what is searched for a question: passages, derived texts, or both (RAIDD)."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest
from serving import run

from argot.corpus.corpus import Corpus
from argot.corpus.ingestion import derivation
from argot.corpus.ingestion.derivation import DerivedBatch, Recipe
from argot.errors import InvalidInput
from argot.profile import PROFILES, SEARCHES, change_profile
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import DerivedText, Principal, SearchChoice

ROOT = Principal("root", sees_all=True)
GIZMO = "Which gizmo refurbishes an exhausted pendrive overnight?"


def derive(corpus: Corpus, name: str, kind: Any, *texts: str) -> None:
    of = corpus.store.passages_of(ROOT, corpus.store.document(ROOT, name).id)[0]
    recipe = Recipe(kind, "p", "m")
    made = DerivedBatch(recipe, [of], [DerivedText("", kind, text, (of.id,), "p", "m") for text in texts])
    with corpus.changing() as parts:
        assert derivation.keep(parts, [made]) == 1


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home, threads=1)) as opened:
        yield opened


async def found(kb: KnowledgeBase, choice: SearchChoice | None) -> set[str]:
    result = await catalogue.get_result(kb, ROOT, "search", query=GIZMO + " Trim", search=choice)
    return {passage["uri"].rpartition("/")[2] for passage in result["passages"]}


async def test_each_search_choice_searches_its_own_texts_only(kb: KnowledgeBase) -> None:
    corpus = await kb.load()
    derive(corpus, "nand-layout.md", "summary", "A gizmo refurbishes an exhausted pendrive.")
    derive(corpus, "tariff-filing.md", "question", GIZMO)
    derive(corpus, "vault-handbook.md", "description", GIZMO)
    texts = {"nand-layout.md": "S", "tariff-filing.md": "Q"}
    for choice in get_args(SearchChoice):
        names = await found(kb, choice)
        letters = {texts[name] for name in names if name in texts}
        if choice in ("S", "Q", "SQ"):
            assert letters == set(choice) and names <= set(texts), choice
        # Only the passage itself contains "Trim".
        else:
            assert "drive-tool.md" in names, choice


def test_search_choices_are_valid_switches() -> None:
    assert set(SEARCHES) == set(get_args(SearchChoice))
    for choice, switches in SEARCHES.items():
        profile = change_profile(PROFILES["default"], switches)
        assert profile.search_passages == (choice not in ("S", "Q", "SQ"))
        assert profile.search_derived == (choice != "passages")
    assert change_profile(PROFILES["default"], SEARCHES["U"]).derived_kinds == ("summary", "question")


async def test_a_search_choice_without_its_derived_texts_is_refused(kb: KnowledgeBase) -> None:
    derive(await kb.load(), "nand-layout.md", "summary", "A gizmo refurbishes an exhausted pendrive.")
    with pytest.raises(InvalidInput, match=r"'U' .* kind question,.*: argot derive --kind question$"):
        await catalogue.get_result(kb, ROOT, "ask", question="How long does trimming take?", search="U")
    with pytest.raises(InvalidInput, match=r"search \('X'\).*'passages', 'S'"):
        await catalogue.get_result(kb, ROOT, "ask", question="How long does trimming take?", search="X")
    asked = await catalogue.get_result(
        kb, ROOT, "ask", question="How long does trimming a drive take?", search="passages"
    )
    assert "40 seconds" in asked["answer"]
    # A switch given singly takes precedence.
    more = {"search_passages": True, "derived_kinds": ["summary"]}
    asked = await catalogue.get_result(
        kb, ROOT, "ask", question="How long does trimming a drive take?", search="S", switches=more
    )
    assert "40 seconds" in asked["answer"]


def test_the_commands_accept_a_search_choice(tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    question = "How long does trimming a drive take?"
    said = run("ask", question, "--search", "S", ARGOT_HOME=str(home))
    assert said.returncode == 1 and "argot derive --kind summary" in said.stderr
    said = run("ask", question, "--search", "T", ARGOT_HOME=str(home))
    assert said.returncode == 2 and "passages" in said.stderr
    said = run("ask", question, "--search", "passages", ARGOT_HOME=str(home))
    assert said.returncode == 0 and "40 seconds" in said.stdout
    beir = tmp_path / "beir"
    (beir / "qrels").mkdir(parents=True)
    (beir / "corpus.jsonl").write_text(json.dumps({"_id": "drive-tool", "title": "Drive", "text": "Trim."}) + "\n")
    (beir / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": question}) + "\n")
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tdrive-tool\t1\n")
    measure = ("evaluate", "retrieval", "--beir", str(beir), "--home", str(home), "--json", "--search")
    said = run(*measure, "S")
    assert said.returncode == 1 and "argot derive --kind summary" in said.stderr
    corpus = Corpus.open(home, Settings(home=home, threads=1))
    derive(corpus, "drive-tool.md", "summary", "Trimming takes 40 seconds.")
    corpus.close()
    for choice in ("S", "S+", "passages"):
        said = run(*measure, choice)
        assert json.loads(said.stdout)["ways"]["plain"]["hit@1"]["mean"] == 1, said.stderr

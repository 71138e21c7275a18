"""Keyword search on both engines: what it must find, what it must not, and that any text is a safe query."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus_engines import ENGINES, corpus_store
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from argot.corpus.document_ids import build_document_id, build_passage_id, build_revision_id, hash_content
from argot.corpus.keyword.index_terms import find_identifiers, parse_question
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.store import row_writes
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_writes import NewRevision
from argot.types import Audience, Document, Passage, Principal

EVE = Principal("eve")
INSIDER = Principal("ida", frozenset({"inside"}))

TEXTS = {
    "controller": "The NX-4410B controller holds 16 GB. Its timing tCCS is 400 ns.",
    "boards": "The NX boards of 4410 customers were recalled.",
    "paths": "Open /dev/nvme0n1 with ARGOT_HOME set to the home folder. Version 10.2.3 is needed; 10.2.30 is not out.",
    "plus": "The firmware is written in C++ and tested with pytest.",
    "letter": "Section C describes vitamin C and a musical C.",
    "sharp": "The installer is written in C#.",
    "map": "The L2P table maps logical to physical pages.",
    "accents": "Le café de l’hôtel est fermé.",
    "wide": "The ＮＡＮＤ array has 128 layers, and the zero\u200bwidth note hides here.",
    "running": "He was running several indexed queries against the databases.",
    "rota": "| 2026-05-16 | Lou |\n| 2026-05-17 | Ann |",
    "holidays": "May has 31 days. On the 5th all 17 are closed.",
    "stop": "To be or not to be, that is what it is about.",
}


def store_text(store: CorpusStore, name: str, text: str, audience: Audience = frozenset(), title: str = "") -> str:
    document = build_document_id(name)
    revision = build_revision_id(document, hash_content(text.encode()))
    passage = Passage(build_passage_id(revision, 0, len(text)), document, revision, 0, 0, len(text), text, title)
    row = Document(
        document, name, title or name, "text/plain", revision, hash_content(text.encode()), "", audience=audience
    )
    with store.database.writing() as connection:
        row_writes.put_revision(connection, NewRevision(row, text, [passage]))
    return passage.id


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CorpusStore]:
    with corpus_store(request.param, tmp_path, request) as opened:
        yield opened


@pytest.fixture(scope="module", params=ENGINES)
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[CorpusStore, dict[str, str]]]:
    with corpus_store(request.param, tmp_path_factory.mktemp("words"), request) as opened:
        yield opened, {store_text(opened, name, text): name for name, text in TEXTS.items()}


def found(filled: tuple[CorpusStore, dict[str, str]], query: str) -> list[str]:
    store, names = filled
    return [names[id_] for id_, _ in store.keyword_search(EVE, query, 50)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("NX-4410B", "controller"),
        ("what is nx-4410b?", "controller"),
        ("tCCS", "controller"),
        ("/dev/nvme0n1", "paths"),
        ("nvme0n1", "paths"),
        ("ARGOT_HOME", "paths"),
        ("(10.2.3)", "paths"),
        ("C++", "plus"),
        ("C#", "sharp"),
        ("How does L2P work?", "map"),
        ("cafe", "accents"),
        ("cafe\u0301", "accents"),
        ("NAND layers", "wide"),
        ("ｌａｙｅｒｓ", "wide"),
        ("zerowidth", "wide"),
        ("index query", "running"),
        ("to be or not to be", "stop"),
    ],
)
def test_the_expected_passage_ranks_first(filled: tuple[CorpusStore, dict[str, str]], query: str, first: str) -> None:
    assert found(filled, query)[0] == first


@pytest.mark.parametrize("query", ["Who leads on 17 May?", "May 17th", "17.05.2026", "am 17. Mai"])
def test_a_day_is_found_however_it_is_written(filled: tuple[CorpusStore, dict[str, str]], query: str) -> None:
    assert found(filled, query)[0] == "rota"


def test_symbols_are_part_of_a_name(filled: tuple[CorpusStore, dict[str, str]]) -> None:
    assert found(filled, "C++") == ["plus"]
    assert found(filled, "C#") == ["sharp"]
    assert found(filled, "vitamin C")[0] == "letter"


def test_a_part_of_a_name_is_found_by_its_words(filled: tuple[CorpusStore, dict[str, str]]) -> None:
    assert "controller" in found(filled, "4410B")
    assert found(filled, "nvme0n1") == ["paths"]


def test_stop_words_of_a_question_are_ignored(filled: tuple[CorpusStore, dict[str, str]]) -> None:
    assert found(filled, "What is the table of this?") == ["map"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Use NX-4410B, tCCS and (C++).", ["NX-4410B", "tCCS", "C++"]),
        ("Mount /dev/nvme0n1: done.", ["/dev/nvme0n1"]),
        ("A low-power mode, e.g. in the Word editor.", ["e.g"]),
        ("`std::vector` in C#; see 10.2.3.", ["std::vector", "C#", "10.2.3"]),
        ("Set **ARGOT_HOME** or _emphasis_ in 2024.", ["ARGOT_HOME"]),
        ("Nothing here, nor 漢字 there 😀", []),
    ],
)
def test_identifiers_are_extracted_from_a_question(text: str, names: list[str]) -> None:
    assert list(find_identifiers(text)) == names


@pytest.mark.parametrize("query", ["", "   ", "😀😀", '"', "'", "\x00", "()*^:{}", "-", "\ud800"])
def test_a_query_without_words_finds_nothing(filled: tuple[CorpusStore, dict[str, str]], query: str) -> None:
    assert found(filled, query) == []


def test_a_query_of_one_megabyte_is_bounded(filled: tuple[CorpusStore, dict[str, str]]) -> None:
    assert "map" in found(filled, "table " + "word-salad C++ " * 70_000)
    assert found(filled, "+" * 1_000_000) == []
    assert len(parse_question(" ".join(f"word{n}" for n in range(100_000)))) == 128


@hypothesis_settings(max_examples=200, deadline=None)
@given(query=st.text(max_size=60) | st.text(alphabet="\"'*^(){}:+-#C AND OR NOT NEAR\x00\u0301", max_size=30))
def test_any_text_is_a_safe_query(filled: tuple[CorpusStore, dict[str, str]], query: str) -> None:
    store, _ = filled
    assert all(score > 0 for _, score in store.keyword_search(EVE, query, 5))
    assert store.phrase_count(EVE, query) == len(store.find_phrase(EVE, query, 50))


def test_a_phrase_count_is_the_number_of_passages_with_it(filled: tuple[CorpusStore, dict[str, str]]) -> None:
    store, names = filled
    assert store.phrase_count(EVE, "logical to physical page") == 1
    assert store.phrase_count(EVE, "physical to logical") == 0
    assert store.phrase_count(EVE, "C++") == 1
    assert [names[id_] for id_ in store.find_phrase(EVE, "indexed query", 5)] == ["running"]
    assert store.phrase_count(EVE, "writing") == 0
    assert store.phrase_count(EVE, "written") == 2
    assert store.count_passages(EVE) == len(TEXTS)


def test_a_match_in_the_title_outranks_a_mention(store: CorpusStore) -> None:
    store_text(store, "a", "A short remark about warranty among many other things.", title="Miscellany")
    titled = store_text(store, "b", "Two years from the date of delivery, for all the things.", title="Warranty")
    assert store.keyword_search(EVE, "warranty", 2)[0][0] == titled


def test_unreadable_documents_do_not_crowd_out_results(store: CorpusStore) -> None:
    for n in range(60):
        store_text(store, f"secret{n}", f"zebra zebra zebra {n}", frozenset({"inside"}))
    mine = store_text(store, "mine", "A zebra stood among the horses, far away from everything else on that long day.")
    assert [id_ for id_, _ in store.keyword_search(EVE, "zebra", 1)] == [mine]
    assert store.phrase_count(EVE, "zebra") == 1
    assert store.find_phrase(EVE, "zebra", 5) == [mine]
    assert store.count_passages(EVE) == 1
    assert len(store.keyword_search(INSIDER, "zebra", 100)) == 61
    assert store.phrase_count(INSIDER, "zebra") == 61


def test_the_index_follows_changes_and_removals(store: CorpusStore) -> None:
    store_text(store, "a", "alpha C++ here")
    store_text(store, "b", "beta")
    store_text(store, "a", "gamma instead")
    assert store.keyword_search(EVE, "alpha C++", 5) == []
    assert len(store.keyword_search(EVE, "gamma", 5)) == 1
    with store.database.writing() as connection:
        row_writes.remove_rows(connection, build_document_id("b"))
        assert choose_keyword_index(connection).faults(connection) == []
    assert store.keyword_search(EVE, "beta", 5) == []


def test_a_damaged_index_is_detected_and_rebuilt(store: CorpusStore) -> None:
    store_text(store, "a", "alpha")
    with store.database.writing() as connection:
        connection.execute("UPDATE passages SET text = 'omega'")
        (fault,) = choose_keyword_index(connection).faults(connection)
        assert fault.startswith("passage_")
        choose_keyword_index(connection).rebuild(connection)
        assert choose_keyword_index(connection).faults(connection) == []
    assert len(store.keyword_search(EVE, "omega", 5)) == 1

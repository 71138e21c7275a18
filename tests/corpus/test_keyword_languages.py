"""Keyword search over passages of several languages, on both engines; English ranks as if there were no others."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus_engines import ENGINES, corpus_store
from random_documents import ROOT, WORDS, write

from argot.corpus.document_ids import build_document_id, build_passage_id, build_revision_id, hash_content
from argot.corpus.ingestion.language_detection import LANGUAGES_TO_DETECT, detect_missing_languages, label_passages
from argot.corpus.keyword.index_terms import parse_question
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.keyword.passage_languages import read_languages
from argot.corpus.store import row_writes
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_writes import NewRevision
from argot.languages.detection import identify_language
from argot.types import Document, DocumentField, Passage, QuestionScope

TEXTS = {
    "urlaub": "Für die Anträge auf Urlaub ist die Führungskraft zuständig. Sie entscheidet innerhalb von fünf Tagen.",
    "leave": "The line manager decides on requests for leave. Every request is answered within five days.",
    "conge": "Les demandes de congés sont approuvées par le responsable. Il décide dans un délai de cinq jours.",
    "permiso": "Las solicitudes de vacaciones las aprueba el responsable. Decide en un plazo de cinco días.",
}


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CorpusStore]:
    with corpus_store(request.param, tmp_path, request) as opened:
        yield opened


def add(store: CorpusStore, name: str, text: str, *, labelled: bool = True) -> None:
    document = build_document_id(name)
    revision = build_revision_id(document, hash_content(text.encode()))
    passage = Passage(build_passage_id(revision, 0, len(text)), document, revision, 0, 0, len(text), text, name)
    passages = label_passages([passage], identify_language(text)) if labelled else [passage]
    row = Document(document, name, name, "text/plain", revision, hash_content(text.encode()), "")
    with store.database.writing() as connection:
        row_writes.put_revision(connection, NewRevision(row, text, passages))


def search(store: CorpusStore, query: str) -> list[str]:
    found = store.keyword_search(ROOT, query, 10)
    passages = store.passages(ROOT, [id_ for id_, _ in found])
    return [document.uri for _, document in passages.values()]


def is_sound(store: CorpusStore) -> bool:
    with store.database.writing() as connection:
        return choose_keyword_index(connection).faults(connection) == []


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("Wer entscheidet über meinen Antrag?", "urlaub"),
        ("Wie viele Tage dauert die Entscheidung der Führungskräfte?", "urlaub"),
        ("Qui approuve ma demande de congé ?", "conge"),
        ("¿Quién aprueba mi solicitud?", "permiso"),
        ("Who decides on my requests?", "leave"),
    ],
)
def test_words_are_found_by_the_stems_of_the_passage(store: CorpusStore, query: str, wanted: str) -> None:
    for name, text in TEXTS.items():
        add(store, name, text)
    assert search(store, query)[0] == wanted
    assert is_sound(store)


def test_phrases_are_found_in_every_language(store: CorpusStore) -> None:
    for name, text in TEXTS.items():
        add(store, name, text)
    assert store.phrase_count(ROOT, "Antrag auf Urlaub") == 1
    assert store.phrase_count(ROOT, "demande de congé") == 1
    assert store.phrase_count(ROOT, "line managers") == 1
    assert store.phrase_count(ROOT, "Urlaub auf Antrag") == 0
    assert len(store.find_phrase(ROOT, "Anträge auf Urlaub", 5)) == 1


def test_english_passages_are_ranked_as_if_no_language_were_known(tmp_path: Path) -> None:
    stores = [CorpusStore.open(tmp_path / name / "corpus.db") for name in ("plain", "labelled")]
    for opened in stores:
        write(opened, random.Random(3), "a")
    with stores[1].database.writing() as connection:
        connection.execute("UPDATE passages SET language = 'en'")
        row_writes.fold_document(connection, build_document_id("a"))
        choose_keyword_index(connection).rebuild(connection)
    dice = random.Random(4)
    for _ in range(40):
        query = " ".join(dice.choices(WORDS, k=dice.randint(1, 5)))
        assert stores[0].keyword_search(ROOT, query, 20) == stores[1].keyword_search(ROOT, query, 20)
    for opened in stores:
        opened.close()


def test_a_question_is_searched_with_the_stems_of_the_languages_there() -> None:
    assert parse_question("Which requests?") == parse_question("Which requests?", [])
    assert [one.words for one in parse_question("Welchen Tagen?", ["de"])] == ["Tagen", "tag"]
    # An English word has the same token with and without German's stems: it must not count twice.
    assert [one.words for one in parse_question("Which pump?", ["de"])] == ["pump"]


def test_documents_of_an_earlier_version_get_their_languages(store: CorpusStore) -> None:
    for name, text in TEXTS.items():
        add(store, name, text, labelled=False)
    english = store.keyword_search(ROOT, "requests", 10)
    assert search(store, "Welcher Tag?") == []
    with store.database.writing() as connection:
        connection.execute("INSERT INTO meta (key, value) VALUES (?, 'due')", (LANGUAGES_TO_DETECT,))
    detect_missing_languages(store.database)
    detect_missing_languages(store.database)
    assert read_languages(store.database.connection()) == ["de", "es", "fr"]
    assert search(store, "Welcher Tag?") == ["urlaub"]
    assert [id_ for id_, _ in store.keyword_search(ROOT, "requests", 10)] == [id_ for id_, _ in english]
    german = QuestionScope(fields=(DocumentField("language", "german"),))
    assert store.documents_within(ROOT, german) == {build_document_id("urlaub")}
    assert is_sound(store)


def test_a_changed_document_is_indexed_in_its_new_language(store: CorpusStore) -> None:
    add(store, "page", TEXTS["urlaub"])
    add(store, "page", TEXTS["leave"])
    assert search(store, "Welcher Tag?") == []
    assert search(store, "requests") == ["page"]
    row_writes.rebuild_words(store.database)
    assert read_languages(store.database.connection()) == []
    assert is_sound(store)


UNSPACED = {
    "zh-leave": ("请假申请必须提前三天提交给部门经理。", "请假要提前几天申请？"),
    "zh-lab": ("实验室每天早上八点开放，晚上十点关闭。", "实验室几点关闭？"),
    "zh-puc": ("PUC区域的高度不得超过三微米。", "PUC的高度限制是什么？"),
    "ja-leave": ("休暇の申請は三日前までに課長へ提出する。", "休暇申請はいつまでに提出しますか。"),
    "ja-store": ("倉庫の温度は十八度以下に保つ。", "倉庫の温度は何度ですか。"),
    "th-fire": ("เมื่อเกิดไฟไหม้ให้รวมตัวที่ลานจอดรถ", "ไฟไหม้ให้รวมตัวที่ไหน"),
}


def test_scripts_without_spaces_are_found_by_their_words(store: CorpusStore) -> None:
    for name, (text, _) in UNSPACED.items():
        add(store, name, text)
    assert {name: search(store, question)[0] for name, (_, question) in UNSPACED.items()} == {
        name: name for name in UNSPACED
    }
    assert store.phrase_count(ROOT, "倉庫の温度") == 1 and store.phrase_count(ROOT, "温度の倉庫") == 0
    assert is_sound(store)

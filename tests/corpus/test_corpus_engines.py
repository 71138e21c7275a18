"""What a document store keeps beside passages, on both engines; equal ranking; and PostgreSQL's row-level security."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from corpus_engines import ENGINES, corpus_store

from argot.corpus.connectors.source_store import SourceRecord, SourceStore, StoredItem
from argot.corpus.document_ids import build_document_id, build_passage_id, build_revision_id, hash_content
from argot.corpus.index import outbox
from argot.corpus.ingestion.derivation_states import DerivationStates, Spending
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.store import document_fields, dustbin, row_writes
from argot.corpus.store.citation_counts import count_by_day, count_citations, list_most_cited, list_never_cited
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.revision_reads import find_same_document, list_revised, list_revisions, read_documents
from argot.corpus.store.row_writes import NewRevision
from argot.corpus.store.source_metadata import SourceMetadata, read_metadata
from argot.types import Audience, Document, DocumentField, Passage, Principal, QuestionScope

ROOT = Principal("root", sees_all=True)
OUTSIDER = Principal("olga", frozenset({"sales"}))
MEMBER = Principal("mia", frozenset({"vault"}))
SECRET = frozenset({"vault"})
SAMPLES = Path(__file__).parents[2] / "samples" / "documents"


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CorpusStore]:
    with corpus_store(request.param, tmp_path, request) as opened:
        yield opened


def put(
    store: CorpusStore, name: str, texts: list[str], audience: Audience = frozenset(), tags: tuple[str, ...] = ()
) -> Document:
    """Store a document of these passages."""
    whole = "\n\n".join(texts)
    document, hash_ = build_document_id(f"test:///{name}"), hash_content(whole.encode())
    revision = build_revision_id(document, hash_)
    passages, start = [], 0
    for n, text in enumerate(texts):
        end = start + len(text)
        passages.append(Passage(build_passage_id(revision, start, end), document, revision, n, start, end, text, name))
        start = end + 2
    fields = (DocumentField("product", name.partition(".")[0]),)
    row = Document(
        document, f"test:///{name}", name, "text/plain", revision, hash_, f"2027-01-0{len(texts)}", "2026-05-01", tags,
        audience, len(passages), len(whole), fields, ("one page could not be read",),
    )  # fmt: skip
    with store.database.writing() as connection:
        metadata = SourceMetadata("", "2026-05-01", "Ann", ("manual",))
        row_writes.put_revision(connection, NewRevision(row, whole, passages, metadata=metadata))
    return row


def test_a_document_is_read_back_as_it_was_stored(store: CorpusStore) -> None:
    document = put(store, "lamp.md", ["How to change the lamp.", "Wait until it is cold."], SECRET, ("b", "a"))
    found = store.document(MEMBER, "lamp.md")
    assert (found.id, found.tags, found.audience, found.date) == (document.id, ("a", "b"), SECRET, "2026-05-01")
    assert (found.fields, found.warnings) == (document.fields, document.warnings)
    assert [one.text for one in store.passages_of(MEMBER, document.id)][1] == "Wait until it is cold."
    with store.database.reading() as connection:
        assert read_metadata(connection, document.id).author == "Ann"
        assert find_same_document(connection, document.content_hash, SECRET) == found
        assert find_same_document(connection, document.content_hash, frozenset()) is None
    assert read_documents(store, OUTSIDER, [document.id]) == []


def test_fields_tags_and_dates_narrow_a_search(store: CorpusStore) -> None:
    lamp = put(store, "lamp.md", ["The warranty of the lamp."], tags=("Home",))
    fan = put(store, "fan.md", ["The warranty of the fan."], SECRET)
    product = QuestionScope(fields=(DocumentField("product", "LAMP"),))
    assert store.documents_within(ROOT, product) == {lamp.id}
    assert store.documents_within(ROOT, QuestionScope(tags=("home",))) == {lamp.id}
    assert store.documents_within(OUTSIDER, QuestionScope(since="2026-05")) == {lamp.id}
    assert store.documents_within(MEMBER, QuestionScope(since="2026")) == {lamp.id, fan.id}
    assert store.documents_within(MEMBER, QuestionScope(since="2027")) == set()
    assert store.field_values(MEMBER, "product", 9) == ["fan", "lamp"]
    assert store.field_values(OUTSIDER, "product", 9) == ["lamp"]
    assert store.field_names(OUTSIDER) == ["product", "tag"]
    for documents, found in (({lamp.id}, 1), ({lamp.id, fan.id}, 2), (set(), 0)):
        assert len(store.keyword_search(MEMBER, "warranty", 9, documents)) == found
    with store.database.writing() as connection:
        document_fields.replace_given_fields(connection, lamp.id, [DocumentField("product", "torch")])
        assert document_fields.read_given_fields(connection, lamp.id) == [DocumentField("product", "torch")]
    assert store.documents_within(ROOT, product) == set()


def test_a_change_of_readers_takes_effect_at_once(store: CorpusStore) -> None:
    document = put(store, "lamp.md", ["The warranty of the lamp."])
    assert len(store.keyword_search(OUTSIDER, "warranty", 9)) == 1
    with store.database.writing() as connection:
        row_writes.relabel_rows(connection, document.id, SECRET, ("new",))
    assert store.keyword_search(OUTSIDER, "warranty", 9) == []
    assert (store.phrase_count(OUTSIDER, "the lamp"), store.phrase_count(MEMBER, "the lamp")) == (0, 1)
    assert store.document(MEMBER, "lamp.md").tags == ("new",)
    with store.database.writing() as connection:
        assert choose_keyword_index(connection).faults(connection) == []


def test_a_removed_document_can_be_restored(store: CorpusStore) -> None:
    first = put(store, "lamp.md", ["The old lamp."], SECRET)
    second = put(store, "lamp.md", ["The new lamp.", "It is green."], SECRET)
    assert [one.state for one in list_revisions(store, second)] == ["live", "superseded"]
    assert list_revised(store) == {second.id}
    with store.database.writing() as connection:
        document_fields.replace_given_fields(connection, first.id, [DocumentField("product", "torch")])
        dustbin.keep_removed(connection, first.id)
        row_writes.remove_rows(connection, first.id)
    assert dustbin.list_removed(store, OUTSIDER) == []
    (removed,) = dustbin.list_removed(store, MEMBER)
    assert (removed.name, removed.audience, dustbin.is_in_again(store, removed.id)) == ("lamp.md", SECRET, False)
    put(store, "lamp.md", ["The new lamp.", "It is green."], SECRET)
    with store.database.writing() as connection:
        dustbin.take_back(connection, removed.id, first.id)
        assert [one.value for one in document_fields.read_given_fields(connection, first.id)] == ["torch"]
    assert [one.id for one in list_revisions(store, second)] == [second.revision_id, first.revision_id]
    with store.database.writing() as connection:
        dustbin.keep_removed(connection, first.id)
        row_writes.remove_rows(connection, first.id)
        dustbin.erase_removed(connection, [first.id])
        assert connection.execute("SELECT count(*) FROM ledger").fetchone()[0] == 2
    assert dustbin.list_removed(store, ROOT) == []


def test_citations_are_counted_by_day(store: CorpusStore) -> None:
    lamp, fan = put(store, "lamp.md", ["lamp"]), put(store, "fan.md", ["fan"], SECRET)
    for _ in range(2):
        count_citations(store, [lamp.uri])
    assert list(count_by_day(store, lamp).values()) == [2]
    listed, number = list_most_cited(store, OUTSIDER, "2000-01-01", "2999-01-01", 9)
    assert (listed, number) == ([(lamp.id, lamp.uri, 2)], 1)
    assert list_never_cited(store, MEMBER, 0, 9) == ([(fan.id, fan.uri)], 1)
    assert list_never_cited(store, OUTSIDER, 0, 9) == ([], 0)


def test_derivation_states_and_spending_are_stored(store: CorpusStore) -> None:
    lamp, now = put(store, "lamp.md", ["lamp"]), datetime(2027, 1, 1, tzinfo=UTC)
    states = DerivationStates(store.database)
    assert states.due("questions", now) == [lamp.id]
    states.note(lamp.id, "questions", [], [], now)
    assert states.due("questions", now + timedelta(days=9)) == []
    assert states.due("summaries", now) == [lamp.id]
    for _ in range(2):
        states.record_spending("2027-01-01", 2, 30)
    assert states.read_spending("2027-01-01") == Spending(4, 60)


def test_sources_and_their_items_are_stored(store: CorpusStore) -> None:
    sources = SourceStore(store.database)
    record = sources.add(SourceRecord("wiki", "folder", "/wiki", {}, SECRET, ("a",), 60))
    assert sources.list_sources() == [record]
    sources.reserve_items("wiki", ["a", "b"])
    sources.reserve_items("wiki", ["b", "c"])
    sources.save_items("wiki", [StoredItem("a", "stamp", "added")])
    assert {uri: one.stamp for uri, one in sources.load_items("wiki").items()} == {"a": "stamp", "b": "", "c": ""}
    sources.begin("wiki")
    sources.finish("wiki", "synced", "", "mark")
    assert (sources.mark("wiki"), sources.get_source("wiki").failures) == ("mark", 0)
    sources.remove("wiki")
    assert sources.load_items("wiki") == {}


def test_a_vector_deletion_is_queued_once(store: CorpusStore) -> None:
    with store.database.writing() as connection:
        for _ in range(2):
            outbox.begin(connection, "d", "g000001", {"c": ["v1", "v2"]}, ["hash"])
        assert connection.execute("SELECT count(*) FROM vector_deletions WHERE under_way = 1").fetchone()[0] == 2
        outbox.finish(connection, "d", "g000001", {"c": ["v0"]})
        rows = connection.execute("SELECT vector, under_way FROM vector_deletions").fetchall()
        assert [tuple(row) for row in rows] == [("v0", 0)]


def test_a_text_of_symbols_has_no_words_and_breaks_no_search(store: CorpusStore) -> None:
    put(store, "signs.md", ["*** \N{SNOWMAN} ---", "x" * 40_000, "aa aa aa"])
    with store.database.writing() as connection:
        assert choose_keyword_index(connection).faults(connection) == []
    assert len(store.keyword_search(ROOT, "x" * 40_000, 9)) == 0  # more than a question may have
    assert store.phrase_count(ROOT, "aa aa") == 1
    put(store, "signs.md", ["words"])
    with store.database.writing() as connection:
        assert choose_keyword_index(connection).faults(connection) == []


# -- one against the other --------------------------------------------------------------------------------------------


def test_both_engines_rank_passages_alike(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    questions = [json.loads(line)["question"] for line in (SAMPLES.parent / "questions.jsonl").open(encoding="utf-8")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(SAMPLES.rglob("*.md"))}
    assert texts
    with ExitStack() as stack:
        lite, server = (
            stack.enter_context(corpus_store(engine, tmp_path / engine, request)) for engine in ("sqlite", "postgresql")
        )
        for store in (lite, server):
            for n, (name, text) in enumerate(texts.items()):
                put(store, name, [part for part in text.split("\n\n") if part], SECRET if n % 3 else frozenset())
        for question in questions[:40]:
            for reader in (ROOT, OUTSIDER):
                for limit in (3, 60):
                    ours, theirs = (one.keyword_search(reader, question, limit) for one in (lite, server))
                    assert [id_ for id_, _ in ours] == [id_ for id_, _ in theirs], question
                    assert [score for _, score in ours] == pytest.approx([score for _, score in theirs])
            phrase = " ".join(question.split()[-2:])
            assert lite.phrase_count(ROOT, phrase) == server.phrase_count(ROOT, phrase)
            assert lite.find_phrase(ROOT, phrase, 9) == server.find_phrase(ROOT, phrase, 9)


# -- the second wall --------------------------------------------------------------------------------------------------

GUARDED = ("documents", "revisions", "passages", "document_fields")


def test_row_level_security_limits_queries_without_an_audience_filter(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with corpus_store("postgresql", tmp_path, request) as store:
        put(store, "open.md", ["The canteen opens at noon."])
        put(store, "secret.md", ["The canary combination is 4711."], SECRET)
        thread = frozenset({"thread:1"})
        put(store, "letter.md", ["A letter of one conversation."], thread)
        inside = Principal("ida", frozenset({"thread:1"}))
        for principal, names in (
            (OUTSIDER, {"open.md"}),
            (MEMBER, {"open.md", "secret.md"}),
            (ROOT, {"open.md", "secret.md"}),
            (inside, {"open.md", "letter.md"}),
            (Principal("'; DROP TABLE passages; --", frozenset({"*", '"'})), {"open.md"}),
        ):
            documents = {build_document_id(f"test:///{name}") for name in names}
            for table, column in zip(GUARDED, ("id", "document", "document", "document"), strict=True):
                rows = store.database.rows_for(principal, f"SELECT {column} FROM {table}")
                assert {row[0] for row in rows} == documents, (principal.name, table)
        assert store.database.connection().execute("SELECT count(*) FROM documents").fetchone()[0] == 3


def test_a_query_without_a_principal_reads_and_writes_no_rows(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with corpus_store("postgresql", tmp_path, request) as store:
        put(store, "open.md", ["The canteen opens at noon."])
        inner = store.database._database  # type: ignore[attr-defined]  # as code would reach it that forgets to say
        for table in GUARDED:
            assert inner.rows(f"SELECT 1 FROM {table}") == []
            assert inner.write(f"DELETE FROM {table}") == 0
        assert len(store.documents(OUTSIDER)) == 1

"""Glossary behaviour that could differ between SQLite and PostgreSQL: order, long texts, nested transactions."""

import random
from pathlib import Path

import pytest
from glossary_engines import Glossaries, GlossaryServer

from argot.databases import POSTGRESQL
from argot.errors import Conflict, StoreUnavailable
from argot.jargon_db import SenseInput
from argot.jargon_db.store.nul_texts import escape, unescape
from argot.jargon_db.store.postgresql_connections import PostgresqlConnections
from argot.jargon_db.store.search_index import build_word_query
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
OSCAR = Principal("oscar")
EVE = Principal("eve", frozenset({"fab"}))
GLOSSARY = Path(__file__).parents[2] / "samples" / "glossary.csv"


@pytest.fixture
def glossary(glossaries):
    return glossaries.open()


# -- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "plain", "a\0b", "\0", "\ufdd0", "\ufdd00", "\ufdd01\0", "\0\ufdd0\ufdd00\0"])
def test_a_nul_is_escaped_and_restored(text):
    assert unescape(escape(text)) == text
    assert "\0" not in escape(text)


@pytest.mark.parametrize("text", ["a\0b", "\ufdd0", "\ufdd00", "\0\ufdd01"])
def test_every_field_keeps_a_text_with_a_nul(glossary, text):
    term = f"T{text}"
    aliases = [f"A{text}", text + "y"]
    sense = glossary.senses.add(term, f"c{text}", text + "x", text, notes=text, aliases=aliases, owner=text)
    assert (sense.term, sense.notes, sense.aliases) == (term, text, (f"A{text}", text + "y"))
    assert glossary.lookup.senses(OSCAR, [f"A{text}"])[f"A{text}"] == [sense]
    assert glossary.search.find(OSCAR, f"A{text}") == [sense]
    glossary.files.import_senses([SenseInput(term, f"c{text}", text + "x", "again")], f"f{text}")
    assert glossary.history.changes(ADMIN)[0].name == f"f{text}"
    assert [one.description for one in glossary.senses.find(ADMIN)] == ["again"]
    glossary.misses.record(f"M{text}", "oscar", f"{text}?", f"t{text}")
    assert glossary.misses.open(OSCAR)[0].questions == (f"{text}?",)
    assert glossary.privacy.erase_person([text]) == 0
    assert glossary.senses.get(ADMIN, sense.id).owner == "erased person"


def test_a_very_long_text_is_stored_in_every_field(glossary):
    dice = random.Random(1)

    def long(number):
        return "".join(dice.choices("abcdefghij", k=number))

    audience = frozenset({"fab", *(long(60) for _ in range(100))})
    many_words = " ".join(long(12) for _ in range(100_000))
    sense = glossary.senses.add("PUC", "NAND", long(10_000), f"zebra {many_words} {long(5_000)}", audience=audience)
    other = glossary.senses.add("PUC", "NAND", sense.expansion[:-1] + "?", audience=audience)
    assert glossary.search.find(EVE, "zebra") == [sense]
    assert glossary.search.find(EVE, sense.expansion[:400]) == [sense, other]
    assert (glossary.search.find(OSCAR, "zebra"), glossary.senses.find(EVE)) == ([], [sense, other])
    question = long(9_000)
    for _ in range(2):
        glossary.misses.record(long(3_000), "oscar", question, "t1")
        glossary.misses.record("XQZ", "oscar", question, "t1")
    assert {miss.count for miss in glossary.misses.open(OSCAR)} == {1}
    proposals = [glossary.proposals.add("person", "NEW", sense.expansion).id for _ in range(2)]
    assert proposals == [1, 1]


# -- transactions -----------------------------------------------------------------------------------------------------


def test_a_failed_nested_transaction_is_rolled_back_alone(glossaries, glossary):
    with glossary._connections.writing() as outer:
        outer.execute("INSERT INTO mined (source, reader) VALUES (?, ?)", ("a", 1))
        with pytest.raises(Conflict), glossary._connections.writing() as inner:
            inner.execute("INSERT INTO mined (source, reader) VALUES (?, ?)", ("b", 1))
            raise Conflict("no")
        with glossary._connections.writing() as inner:
            inner.execute("INSERT INTO mined (source, reader) VALUES (?, ?)", ("c", 1))
        assert glossaries.rows(glossary, "mined") == 0  # readers see what is done
    assert glossary.mining.list_unmined(["a", "b", "c"]) == ["b"]


def test_ids_continue_after_rows_copied_with_their_ids(glossary):
    with glossary._connections.writing() as connection:
        connection.add_rows("terms", "id, spelling, key", [(7, "PUC", "puc")])
    sense = glossary.senses.add("WLX", "NAND", "word line extension")
    assert sense.id == 1
    assert glossary._connections.reader().execute("SELECT id FROM terms ORDER BY id").fetchall() == [(7,), (8,)]


def test_rows_are_streamed_and_their_connection_is_released(glossary):
    glossary.files.import_senses([SenseInput(f"T{number}", "NAND", "meaning") for number in range(2_500)], "f")
    sql = "SELECT spelling FROM terms WHERE id > :least ORDER BY id"
    for _ in range(30):
        assert next(glossary._connections.stream(sql, least=1))["spelling"] == "T1"
    assert len(list(glossary._connections.stream(sql, least=0))) == 2_500
    assert list(glossary._connections.stream(sql, least=9_999)) == []


def test_rebuilding_the_search_index_restores_it(glossaries, glossary):
    glossary.files.import_csv(GLOSSARY.read_text(encoding="utf-8"))
    before = glossaries.indexed(glossary)
    with glossary._connections.writing() as connection:
        connection.execute("DELETE FROM sense_search")
    glossary.search.rebuild()
    assert glossaries.indexed(glossary) == before


def test_a_copy_holds_everything_and_is_independent(glossary, tmp_path):
    glossary.files.import_csv(GLOSSARY.read_text(encoding="utf-8"))
    glossary.senses.add("a\0b", "NAND", "with a NUL", aliases=["\ufdd0"], audience=frozenset({"fab"}))
    glossary.misses.record("XQZ", "oscar", "XQZ?", "t1")
    glossary.proposals.add("mined", "NEW", "new thing", score=0.5)
    glossary.usage.record([1])
    copy = glossary.copy(tmp_path / "copy.db")
    for part in (
        lambda one: one.senses.find(ADMIN), lambda one: one.history.entries(ADMIN, limit=None),
        lambda one: one.proposals.find(ADMIN), lambda one: one.misses.open(ADMIN), lambda one: one.usage.by_week(ADMIN),
        lambda one: one.search.find(EVE, "with a nul"), lambda one: one.version(), lambda one: one.contexts.all(ADMIN),
    ):  # fmt: skip
        assert part(copy) == part(glossary)
    copy.senses.add("ONLY", "there", "in the copy")
    assert glossary.search.find(ADMIN, "ONLY") == []
    copy.close()


# -- one against the other --------------------------------------------------------------------------------------------


def test_words_are_quoted_in_postgresql_search_queries():
    assert build_word_query(POSTGRESQL, ["a'b", "c\\d", "x:*|!"], 2) == "'a''b':*AB & 'c\\\\d':*AB & 'x:*|!':*AB"


def test_both_engines_find_the_same_in_the_same_order(tmp_path: Path, glossary_server: GlossaryServer):
    lite, server = Glossaries("sqlite", tmp_path, None), Glossaries("postgresql", tmp_path, glossary_server)
    text, pair = GLOSSARY.read_text(encoding="utf-8"), [lite.empty(), server.empty()]
    odd = ["Zebra", "apple", "Äpfel", "ähnlich", "_x", "C++", "c", "Übung", "ubung", "ﷺ", "PUC-2", "puc 2", "P.U.C."]
    for glossary in pair:
        glossary.files.import_csv(text)
        glossary.files.import_senses([SenseInput(one, "Odd", f"odd {one}", f"so {one} ist") for one in odd], "odd")
    stored = [one.senses.find(ADMIN) for one in pair]
    assert stored[0] == stored[1]
    texts = {word[:end] for sense in stored[0] for word in (sense.term, *sense.expansion.split()) for end in (1, 3, 9)}
    for number, typed in enumerate([*odd, *sorted(texts)[::5]]):
        limit = (3, 20)[number % 2]
        assert pair[0].search.find(OSCAR, typed, limit) == pair[1].search.find(OSCAR, typed, limit), typed
    for who in (ADMIN, OSCAR):
        for start in range(0, len(stored[0]), 7):
            pages = [one.senses.find(who, start=start, limit=7) for one in pair]
            assert pages[0] == pages[1]
    assert pair[0].conflicts.open(ADMIN) == pair[1].conflicts.open(ADMIN)
    assert pair[0].files.export_csv(OSCAR) == pair[1].files.export_csv(OSCAR)
    lite.close()
    server.close()


def test_a_reader_refuses_every_writing_statement(glossary_server: GlossaryServer):
    glossary_server.empty("glossary")
    connections = PostgresqlConnections(glossary_server.stores("glossary"))
    for sql in (
        "WITH gone AS (DELETE FROM terms RETURNING 1) SELECT * FROM gone", "CREATE TABLE x (y int)",
        "DROP VIEW sense_rows", "SELECT 1 FROM terms FOR UPDATE", "COPY terms FROM '/etc/passwd'",
    ):  # fmt: skip
        with pytest.raises(StoreUnavailable, match="read-only transaction"):
            connections.reader().execute(sql)
    with pytest.raises(StoreUnavailable, match="read-only transaction"):
        next(connections.stream("SELECT * FROM terms FOR UPDATE"))

import sqlite3
import threading
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argot.errors import DamagedStore, InvalidInput, NotFound, StoreUnavailable
from argot.jargon_db import Glossary
from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.jargon_db.store.inputs import clean_name
from argot.jargon_db.store.statements import load_statement
from argot.types import Principal

EVERYBODY = Principal("admin", sees_all=True)
EVE = Principal("eve", frozenset({"nand"}))
OSCAR = Principal("oscar")
SECRET = frozenset({"nand"})


@pytest.fixture
def glossary(glossaries):
    return glossaries.open()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "glossary.db"


def expansions(senses):
    return [sense.expansion for sense in senses]


# -- looking up -----------------------------------------------------------------------------------------------------


def test_lookup_returns_every_approved_sense_under_the_given_term(glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", aliases=["under-array periphery"])
    glossary.senses.add("PUC", "legal", "Public Utilities Commission")
    glossary.senses.add("PUC", "draft", "Not yet", status="draft")
    glossary.senses.add("PUC", "old", "No more", status="retired")
    found = glossary.lookup.senses(EVERYBODY, ["puc", "PUC's", "Under Array Periphery", "unknown", ""])
    assert {term: expansions(senses) for term, senses in found.items()} == {
        "puc": ["Public Utilities Commission", "Peripheral Under Cell"][::-1],
        "PUC's": ["Peripheral Under Cell", "Public Utilities Commission"],
        "Under Array Periphery": ["Peripheral Under Cell"],
        "unknown": [],
        "": [],
    }


def test_an_exact_key_wins_over_a_plural(glossary):
    glossary.senses.add("DR", "x", "design rule")
    glossary.senses.add("DRs", "x", "data registers")
    assert expansions(glossary.lookup.senses(EVERYBODY, ["DRs"])["DRs"]) == ["data registers"]


def test_case_distinguishes_only_terms_that_differ_in_case(glossary):
    for term in ("mA", "MA", "PUC", "puc"):
        glossary.senses.add(term, "x", f"meaning of {term}")
    found = glossary.lookup.senses(EVERYBODY, ["mA", "MA", "ma", "PUC", "Puc"])
    assert expansions(found["mA"]) == ["meaning of mA"]
    assert expansions(found["MA"]) == ["meaning of MA"]
    assert set(expansions(found["ma"])) == {"meaning of mA", "meaning of MA"}
    assert set(expansions(found["PUC"])) == set(expansions(found["Puc"])) == {"meaning of PUC", "meaning of puc"}


ODD_TERMS = st.one_of(
    st.text(min_size=1, max_size=6),
    st.text(alphabet="aA-_/ '%\"\x00\u200b\u202eאＡé💾+#s", min_size=1, max_size=4),
    st.sampled_from(
        ["%", "_", "a' OR 1=1 --", '"', "P\x00UC", "💾", "\u202eabc", "é", "e\u0301", "ＡＢＣ", "a\u200bb"]
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(terms=st.lists(ODD_TERMS, max_size=6), asked=st.lists(ODD_TERMS, max_size=6))
def test_lookup_agrees_with_a_dictionary(glossaries, terms, asked):
    glossary = glossaries.empty()
    oracle: dict[str, set[str]] = {}
    for number, term in enumerate(terms):
        try:
            sense = glossary.senses.add(term, "x", f"meaning {number}")
        except InvalidInput:
            assert not normalise(term)
            continue
        assert sense.term == clean_name(term)
        oracle.setdefault(normalise(term), set()).add(sense.term)
    found = glossary.lookup.senses(EVERYBODY, [*terms, *asked])
    for term in (*terms, *asked):
        key = next((form for form in list_variants(term) if form in oracle), None)
        got = {sense.term for sense in found[term]}
        assert got <= oracle.get(key, set())
        assert bool(got) == (key is not None)
        assert got == oracle.get(key, set()) or got == {clean_name(term)}


def test_lookup_uses_a_read_only_connection(glossary):
    reader = glossary._connections.reader()
    with pytest.raises((sqlite3.OperationalError, StoreUnavailable), match=r"read-?only"):
        reader.execute("DELETE FROM senses")


def test_any_number_of_terms_is_looked_up_in_one_statement(glossaries, glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    with glossaries.statements(glossary) as statements:
        glossary.lookup.senses(EVERYBODY, [f"T{number}" for number in range(2_000)] + ["PUC"])
    assert len(statements) == 1
    assert ":keys" in load_statement("look_up")


# -- audiences ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guard", ["sense", "context"])
def test_an_unreadable_sense_does_not_exist_for_any_query(glossary, guard):
    if guard == "context":
        glossary.contexts.add("NAND", audience=SECRET)
    audience = SECRET if guard == "sense" else frozenset()
    secret = glossary.senses.add("ZEBRAX", "NAND", "Zonal erase", aliases=["STRIPEQ"], audience=audience)
    glossary.senses.add("ZEBRAXS", "public", "something else")
    text = "ZEBRAX, STRIPEQ and ZEBRXA"

    assert expansions(glossary.lookup.senses(OSCAR, ["ZEBRAX", "STRIPEQ"])["STRIPEQ"]) == []
    assert "Zonal erase" not in str(glossary.lookup.senses(OSCAR, ["ZEBRAX", "STRIPEQ"]))
    assert expansions(glossary.senses.find(OSCAR)) == ["something else"]
    assert glossary.senses.find(OSCAR, query="zebrax", limit=5)[0].term == "ZEBRAXS"
    assert "STRIPEQ" not in glossary.files.export_csv(OSCAR)
    assert "ZEBRAX" not in glossary.lookup.suggest(OSCAR, "ZEBRXA")
    assert "ZEBRAX" not in glossary.lookup.suggest(OSCAR, "Zonal erase")
    theirs = glossary.lookup.matcher(OSCAR)
    assert [mention.term for mention in theirs.find(text)] == []
    assert "ZEBRAX" not in [mention.term for mention in theirs.misspelt(text, [])]
    assert list(theirs.terms()) == ["ZEBRAXS"]
    with pytest.raises(NotFound):
        glossary.senses.get(OSCAR, secret.id)

    assert expansions(glossary.lookup.senses(EVE, ["STRIPEQ"])["STRIPEQ"]) == ["Zonal erase"]
    assert [mention.term for mention in glossary.lookup.matcher(EVE).find(text)] == ["ZEBRAX", "ZEBRAX"]
    assert "ZEBRAX" in glossary.lookup.suggest(EVE, "ZEBRXA")
    assert glossary.senses.get(EVE, secret.id) == secret


def test_a_context_with_an_audience_is_listed_for_its_readers_alone(glossary):
    glossary.contexts.add("skunkworks", audience=SECRET)
    assert glossary.contexts.all(OSCAR) == []
    assert [context.name for context in glossary.contexts.all(EVE)] == ["skunkworks"]


def test_an_unreadable_exact_term_does_not_hide_a_readable_variant(glossary):
    glossary.senses.add("DRs", "x", "secret", audience=SECRET)
    glossary.senses.add("DR", "x", "design rule")
    assert expansions(glossary.lookup.senses(OSCAR, ["DRs"])["DRs"]) == ["design rule"]


# -- recognising ----------------------------------------------------------------------------------------------------


def test_a_matcher_is_shared_until_the_glossary_changes(glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    first = glossary.lookup.matcher(OSCAR)
    assert glossary.lookup.matcher(EVE) is first
    glossary.senses.add("NIRE", "NAND", "something", audience=SECRET)
    assert glossary.lookup.matcher(OSCAR) is not first
    assert glossary.lookup.matcher(OSCAR) is not glossary.lookup.matcher(EVE)
    assert set(glossary.lookup.matcher(EVE).terms()) == {"PUC", "NIRE"}


def test_a_change_through_another_connection_updates_the_matcher(glossaries, glossary):
    assert list(glossary.lookup.matcher(OSCAR).terms()) == []
    other = glossaries.open()
    other.senses.add("PUC", "NAND", "Peripheral Under Cell")
    assert list(glossary.lookup.matcher(OSCAR).terms()) == ["PUC"]


def test_checking_for_changes_takes_one_statement(glossaries, glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    glossary.lookup.matcher(OSCAR)
    with glossaries.statements(glossary) as statements:
        glossary.lookup.matcher(OSCAR)
    assert len(statements) == 1


def test_a_misspelt_term_or_its_expansion_gets_suggestions(glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    glossary.senses.add("PUC", "legal", "Public Utilities Commission")
    glossary.senses.add("PCC", "NAND", "Power Control Circuit")
    glossary.senses.add("retention", "NAND", "keeping charge", aliases=["data keeping"])
    assert glossary.lookup.suggest(OSCAR, "PCU") == ["PUC", "PCC"]
    assert glossary.lookup.suggest(OSCAR, "PCU", limit=1) == ["PUC"]
    assert glossary.lookup.suggest(OSCAR, "retnetion") == ["retention"]
    assert glossary.lookup.suggest(OSCAR, "data keepin") == ["retention"]
    assert glossary.lookup.suggest(OSCAR, "peripheral under cell")[0] == "PUC"
    assert glossary.lookup.suggest(OSCAR, "power control chip")[0] == "PCC"
    assert glossary.lookup.suggest(OSCAR, "qqqqqq") == []


def test_equally_near_suggestions_are_ordered_by_number_of_senses(glossary):
    glossary.senses.add("ABCX", "x", "one")
    glossary.senses.add("ABCY", "x", "one")
    glossary.senses.add("ABCY", "x", "two")
    assert glossary.lookup.suggest(OSCAR, "ABCZ") == ["ABCY", "ABCX"]


# -- writing --------------------------------------------------------------------------------------------------------


def test_a_sense_is_read_back_as_it_was_given(glossary):
    given = {
        "description": "d\x00\n",
        "notes": "=n",
        "aliases": ("a|b", "c\x00d"),
        "owner": "o",
        "status": "draft",
        "audience": SECRET,
    }
    sense = glossary.senses.add("  PUC ", "NAND", " Peripheral ", **given)
    assert (sense.term, sense.context, sense.expansion) == ("PUC", "NAND", "Peripheral")
    assert all(getattr(sense, name) == value for name, value in given.items())
    assert glossary.senses.find(EVERYBODY) == [sense]


def test_adding_the_same_sense_again_replaces_its_description(glossary):
    first = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", "old")
    second = glossary.senses.add("PUC", "nand", "Peripheral Under Cell", "new")
    assert (first.id, first.context) == (second.id, second.context)
    assert [sense.description for sense in glossary.senses.find(EVERYBODY)] == ["new"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "x", "y"), "term is empty"),
        (("\u200b", "x", "y"), "term is empty"),
        (("a" * 201, "x", "y"), "201 characters"),
        (("A", " ", "y"), "context is empty"),
        (("A", "x", ""), "'A' has neither an expansion nor a description"),
        (("A", "x", "\ud800"), "surrogate"),
    ],
)
def test_an_invalid_sense_is_refused_with_the_reason(glossary, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        glossary.senses.add(*arguments)
    assert glossary.senses.find(EVERYBODY) == []


def test_a_context_is_updated_only_in_the_given_fields(glossary):
    glossary.contexts.add("NAND Design", "flash", "ann@example.com", audience=SECRET)
    context = glossary.contexts.add("nand  design", contact="bob@example.com")
    assert (context.name, context.description, context.contact, context.audience) == (
        "NAND Design", "flash", "bob@example.com", SECRET,
    )  # fmt: skip
    assert glossary.contexts.add("NAND Design", audience=frozenset()).audience == frozenset()
    assert len(glossary.contexts.all(EVERYBODY)) == 1


def test_pages_of_senses_together_hold_all_senses(glossary):
    for number in range(7):
        for context in ("NAND", "legal"):
            secret = SECRET if number % 3 == 0 else None
            status = "draft" if number % 2 else "approved"
            glossary.senses.add(f"T{number}", context, f"meaning {number}", audience=secret, status=status)
    for who in (EVERYBODY, EVE, OSCAR):
        for narrowed in ({}, {"context": "nand"}, {"status": "draft"}, {"query": "meaning"}, {"query": "meaning 3"}):
            every = glossary.senses.find(who, **narrowed)
            pages = [glossary.senses.find(who, **narrowed, start=start, limit=3) for start in range(0, 15, 3)]
            assert [sense for page in pages for sense in page] == every
            assert glossary.senses.find(who, **narrowed, start=2) == every[2:]
    assert len(glossary.senses.find(OSCAR)) == 4


def test_a_search_lists_the_named_term_first_then_those_that_begin_with_it(glossary):
    for term, expansion in (
        ("CMA", "cell map"), ("Gamma", "a ray"), ("MA", "mapping agent"), ("MAC", "media access"),
        ("ZZ", "the ma of it"),
    ):  # fmt: skip
        glossary.senses.add(term, "NAND", expansion, aliases=("ma",) if term == "ZZ" else ())
    found = [one.term for one in glossary.senses.find(EVERYBODY, query="MA")]
    assert found == ["MA", "ZZ", "MAC", "CMA", "Gamma"]
    assert [one.term for one in glossary.senses.find(EVERYBODY, query="MA", limit=2, start=1)] == found[1:3]


def test_senses_are_filtered_by_context_status_and_text(glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    glossary.senses.add("PUC", "legal", "Public Utilities Commission", status="draft")
    glossary.senses.add("NIRE", "NAND", "100% pure")
    assert len(glossary.senses.find(EVERYBODY)) == 3
    assert expansions(glossary.senses.find(EVERYBODY, context="nand", query="puc")) == ["Peripheral Under Cell"]
    assert expansions(glossary.senses.find(EVERYBODY, status="draft")) == ["Public Utilities Commission"]
    assert expansions(glossary.senses.find(EVERYBODY, query="%")) == ["100% pure"]
    assert len(glossary.senses.find(EVERYBODY, limit=2)) == 2


def test_no_write_of_concurrent_writers_is_lost(glossary):
    failures = []

    def write(thread):
        try:
            for number in range(50):
                glossary.senses.add(f"T{thread}", f"context {number % 5}", f"meaning {number}")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(glossary.senses.find(EVERYBODY)) == 400
    assert glossary.version() == 401


# -- misses ---------------------------------------------------------------------------------------------------------


def test_a_miss_counts_once_per_question_and_thread(glossary):
    for _ in range(2):
        glossary.misses.record("XQZ", "eve", "What is XQZ?", "t1")
    glossary.misses.record("xqz", "oscar", "XQZ again?", "t2")
    glossary.misses.record("Other", "oscar", "Other?", "t2")
    first, second = glossary.misses.open(EVERYBODY)
    assert (first.term, first.count, set(first.questions)) == ("XQZ", 2, {"What is XQZ?", "XQZ again?"})
    assert (second.term, second.count) == ("Other", 1)
    assert first.first <= first.last


def test_a_missed_question_is_shown_to_its_asker_alone(glossary):
    glossary.misses.record("XQZ", "eve", "What is XQZ?", "t1")
    glossary.misses.record("XQZ", "oscar", "XQZ again?", "t2")
    assert [(miss.count, miss.questions) for miss in glossary.misses.open(EVE)] == [(1, ("What is XQZ?",))]
    assert glossary.misses.open(Principal("mallory")) == []


def test_the_example_of_a_miss_is_a_question_that_names_the_term(glossary):
    glossary.misses.record(
        "PIV", "eve", "And how often is it done?", "t1", meant="How often is a PIV done?", shared=True
    )
    glossary.misses.record("PIV", "eve", "Who pays for PIVs?", "t1", meant="Who pays for PIVs, and when?", shared=True)
    glossary.misses.record("PIV", "eve", "Does the pivot turn?", "t2", meant="Does it turn?", shared=True)
    (miss,) = glossary.misses.open(EVERYBODY)
    assert miss.questions == ("Who pays for PIVs?", "How often is a PIV done?", "Does the pivot turn?")


def test_a_miss_needs_a_term(glossary):
    with pytest.raises(InvalidInput):
        glossary.misses.record("\u200b", "eve", "?", "t")


# -- the file -------------------------------------------------------------------------------------------------------


def test_a_stored_sense_is_there_after_reopening(glossaries):
    first = glossaries.open()
    sense = first.senses.add(unicodedata.normalize("NFD", "Größe"), "x", "size")
    first.close()
    assert glossaries.open().lookup.senses(EVERYBODY, ["größe"])["größe"] == [sense]


def damaged_by(path, change):
    glossary = Glossary.open(path)
    for number in range(300):
        glossary.senses.add(f"T{number}", "x", "long " * 20)
    glossary.close()
    change(path)
    with pytest.raises(DamagedStore, match=r"glossary\.db.*argot restore --force.*argot glossary import"):
        Glossary.open(path)


def overwrite(path):
    data = bytearray(path.read_bytes())
    data[4096:40_960] = b"\xff" * 36_864
    path.write_bytes(bytes(data))


def foreign(path):
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE other (x)")
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(path.read_bytes()[:20_000]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no database, but a text of some length" * 200),
        overwrite,
        foreign,
    ],
    ids=["truncated", "emptied", "text", "overwritten", "foreign"],
)
def test_a_damaged_file_is_reported_at_opening_with_the_repair_command(path, change):
    damaged_by(path, change)


def test_a_glossary_of_a_newer_argot_is_refused(path):
    Glossary.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('argot.jargon_db', 'm999_later', '')"
    )
    connection.commit()
    connection.close()
    with pytest.raises(DamagedStore, match="newer Argot"):
        Glossary.open(path)

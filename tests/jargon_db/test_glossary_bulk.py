"""A batched import has the same result as saving one sense after the other."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from argot.errors import Conflict, NotAllowed
from argot.jargon_db import SenseInput
from argot.jargon_db.store import bulk_writer
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
TERMS = st.sampled_from(["PUC", "puc", "Größe", "C++", "%", "a\x00b", "🎉", "'; DROP TABLE senses; --"])
INPUT = st.builds(
    SenseInput,
    term=TERMS,
    context=st.sampled_from(["NAND", "nand", "Legal"]),
    expansion=st.sampled_from(["one", "two"]),
    description=st.sampled_from([None, "", "said"]),
    aliases=st.sampled_from([None, (), ("x", "PUC"), ("y",)]),
    status=st.sampled_from([None, "draft", "retired"]),
    audience=st.sampled_from([None, frozenset(), frozenset({"hr"})]),
)
FILES = st.lists(st.lists(INPUT, max_size=12), min_size=1, max_size=3)


def stored(glossaries, glossary):
    """Return the whole content of a glossary as people see it, without the ids."""
    senses = {one.id: one for one in glossary.senses.find(ADMIN)}
    plain = sorted((s.term, s.context, s.expansion, s.description, s.aliases, s.status, *s.audience, s.version)
                   for s in senses.values())  # fmt: skip
    words = dict(glossaries.indexed(glossary))
    assert words.keys() == senses.keys()
    history = [
        (one.kind, one.term, one.context, one.before, one.after) for one in glossary.history.entries(ADMIN, limit=None)
    ]
    found = [
        (term, sorted(s.expansion for s in glossary.lookup.senses(ADMIN, [term])[term])) for term in ("PUC", "C++", "x")
    ]
    return plain, sorted(words.values()), history, found, [one.name for one in glossary.contexts.all(ADMIN)]


def ends_as_it_began(glossary, change):
    """Tell whether an import left every sense unchanged; a file may change a sense and then change it back."""
    before, after = {}, {}
    for row in reversed([one for one in glossary.history.entries(ADMIN, limit=None) if one.change == change]):
        before.setdefault((row.sense_id, row.context), row.before)
        after[row.sense_id, row.context] = row.after
    return before == after


TWICE = [[SenseInput("PUC", "NAND", "one")], [SenseInput("PUC", "NAND", "one", text) for text in ("said", "")]]


@example(files=TWICE, batch=1000)
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(files=FILES, batch=st.sampled_from([1, 2, 1000]))
def test_a_batched_import_stores_the_same_as_saving_sense_by_sense(glossaries, monkeypatch, files, batch):
    monkeypatch.setattr(bulk_writer, "_WRITE_BATCH", batch)
    at_once, singly = glossaries.empty("a"), glossaries.empty("b")
    for file in files:
        report = at_once.files.import_senses(file, "file")
        outcomes = {}
        with singly._connections.changing(None, "import", name="file") as writer:
            for one in file:
                number, outcome, _ = writer.put_sense(one)
                if outcomes.get(number) != "added":
                    outcomes[number] = outcome if outcome != "unchanged" else outcomes.get(number, outcome)
        counts = [list(outcomes.values()).count(name) for name in ("added", "updated", "unchanged")]
        assert [report.added, report.updated, report.unchanged] == counts
    expected, told = stored(glossaries, singly), stored(glossaries, at_once)
    assert told[:2] == expected[:2]
    assert sorted(map(str, told[2])) == sorted(map(str, expected[2]))
    assert told[3:] == expected[3:]
    for change in sorted((one.id for one in at_once.history.changes(ADMIN) if one.kind == "import"), reverse=True):
        if ends_as_it_began(at_once, change):
            with pytest.raises(Conflict, match="nothing to roll back"):
                at_once.history.roll_back(ADMIN, change)
        else:
            at_once.history.roll_back(ADMIN, change)
    assert stored(glossaries, at_once)[:2] == ([], [])


def test_an_import_with_one_forbidden_sense_stores_nothing(glossaries):
    glossary = glossaries.open()
    glossary.senses.add("PUC", "NAND", "peripheral under cell", audience=frozenset({"hr"}))
    nina = Principal("nina", manages=frozenset({"NAND"}))
    good = [SenseInput(f"T{number}", "NAND", "meaning") for number in range(1_500)]
    for bad in (SenseInput("PUC", "NAND", "peripheral under cell"), SenseInput("A", "Legal", "b")):
        with pytest.raises(NotAllowed):
            glossary.files.import_senses([*good, bad], "file", by=nina)
        assert len(glossary.senses.find(ADMIN)) == 1
    done = []
    assert glossary.files.import_senses(good, "file", by=nina, on_progress=done.append).added == 1_500
    assert done == [1_000, 1_500]


def test_a_cancelled_import_stores_nothing(glossaries):
    glossary = glossaries.open()

    def give_up(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        glossary.files.import_senses([SenseInput("A", "b", "c")], "file", on_progress=give_up)
    assert (glossary.senses.find(ADMIN), glossary.contexts.all(ADMIN), glossary.history.changes(ADMIN)) == ([], [], [])

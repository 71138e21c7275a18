"""Building the matcher of a large glossary in the background: questions get the previous one with changes applied."""

import threading

import pytest

from argot.jargon_db.lookup import views
from argot.types import Principal

ANN, EVE = Principal("ann"), Principal("eve", groups=frozenset({"hr"}))


@pytest.fixture
def glossary(glossaries, monkeypatch):
    monkeypatch.setattr(views, "LARGE_GLOSSARY_SENSES", 3)
    monkeypatch.setattr(views, "MAX_PATCHED_CHANGES", 0)  # every change is as large as an import
    opened = glossaries.open()
    for term in ("PUC", "WLB", "TFL"):
        opened.senses.add(term, "general", f"the meaning of {term}")
    return opened


def found(glossary, principal, text="PUC and NEW and VLT"):
    return [mention.term for mention in glossary.lookup.matcher(principal).find(text)]


@pytest.fixture
def held(monkeypatch):
    """Return an event: building a view in the background waits until it is set."""
    go, complete = threading.Event(), views.View.complete

    def held_up(self):
        assert go.wait(300)
        complete(self)

    monkeypatch.setattr(views.View, "complete", held_up)
    yield go
    go.set()


def test_the_previous_view_serves_until_the_new_one_is_ready(glossary, held):
    assert found(glossary, ANN) == ["PUC"]
    glossary.senses.add("NEW", "general", "something new")
    assert found(glossary, ANN) == found(glossary, ANN) == ["PUC"]
    assert [one.term for one in glossary.lookup.senses(ANN, ["NEW"])["NEW"]] == ["NEW"]
    held.set()
    glossary._views.finish()
    assert found(glossary, ANN) == ["PUC", "NEW"]
    assert "_near_phrases" in vars(glossary.lookup.matcher(ANN))  # nothing is left for a question to make


def test_a_restricted_sense_is_hidden_at_once(glossary, held):
    sense = glossary.senses.add("VLT", "general", "vault liaison team")
    assert found(glossary, ANN) == ["PUC", "VLT"]
    glossary.senses.save(Principal("root", sees_all=True), sense.id, version=1, audience=frozenset({"hr"}))
    assert found(glossary, ANN) == ["PUC"]
    assert found(glossary, EVE) == ["PUC", "VLT"]


def test_a_sense_of_a_new_audience_keeps_the_previous_view(glossary, held):
    assert found(glossary, EVE) == ["PUC"]
    before = glossary.lookup.matcher(EVE)
    glossary.senses.add("VLT", "general", "vault liaison team", audience=frozenset({"hr"}))
    assert glossary.lookup.matcher(EVE) is before
    assert found(glossary, ANN) == ["PUC"]
    held.set()
    glossary._views.finish()
    assert found(glossary, EVE) == ["PUC", "VLT"]
    assert found(glossary, ANN) == ["PUC"]


def test_a_view_that_cannot_be_built_keeps_the_previous_one(glossary, monkeypatch, caplog):
    assert found(glossary, ANN) == ["PUC"]
    glossary.senses.add("NEW", "general", "something new")
    with monkeypatch.context() as broken:
        broken.setattr(views.View, "complete", lambda self: 1 / 0)
        assert found(glossary, ANN) == ["PUC"]
        glossary._views.finish()
    assert "not made ready" in caplog.text
    assert found(glossary, ANN) == ["PUC"]
    glossary._views.finish()
    assert found(glossary, ANN) == ["PUC", "NEW"]


# -- few changes ------------------------------------------------------------------------------------------------------

ROOT = Principal("root", sees_all=True)


@pytest.fixture
def kept(glossary, held, monkeypatch):
    """Return a large glossary whose first view is built and which never builds another."""
    monkeypatch.setattr(views, "MAX_PATCHED_CHANGES", 100)
    assert found(glossary, ANN) == ["PUC"]
    return glossary


def test_an_approved_sense_is_found_at_once(kept):
    kept.senses.add("NEW", "general", "something new", aliases=["brand new"])
    assert found(kept, ANN, "Is the PUC brand new?") == ["PUC", "NEW"]
    draft = kept.senses.draft(ROOT, "VLT", "general", "vault liaison team")
    assert found(kept, ANN) == ["PUC", "NEW"]
    kept.senses.approve(ROOT, draft.id, draft.version)
    assert found(kept, ANN) == ["PUC", "NEW", "VLT"]
    assert kept.lookup.matcher(ANN).near.uses("VLT") == 1


def test_a_retired_renamed_or_rolled_back_term_is_gone_at_once(kept):
    puc = kept.senses.find(ANN, query="PUC")[0]
    kept.senses.retire(ROOT, puc.id, puc.version)
    assert found(kept, ANN) == []
    assert "PUC" not in kept.lookup.matcher(ANN).terms()
    wlb = kept.senses.find(ANN, query="WLB")[0]
    renamed = kept.senses.save(ROOT, wlb.id, version=wlb.version, term="WLX", aliases=["the walrus"])
    assert found(kept, ANN, "WLB, WLX and the walrus") == ["WLX", "WLX"]
    kept.senses.save(ROOT, wlb.id, version=renamed.version, aliases=[])
    assert found(kept, ANN, "WLB, WLX and the walrus") == ["WLX"]
    kept.history.roll_back(ROOT, kept.history.entries(ROOT)[0].change)
    assert found(kept, ANN, "WLB, WLX and the walrus") == ["WLX", "WLX"]


def test_retiring_one_sense_keeps_the_other_sense_of_the_term(kept):
    second = kept.senses.add("PUC", "legal", "public utilities commission")
    assert kept.lookup.matcher(ANN).near.uses("PUC") == 2
    kept.senses.retire(ROOT, second.id, second.version)
    assert found(kept, ANN) == ["PUC"]
    assert kept.lookup.matcher(ANN).near.uses("PUC") == 1


def test_an_updated_view_shows_only_readable_senses(kept):
    assert found(kept, EVE) == ["PUC"]
    kept.senses.add("VLT", "general", "vault liaison team", audience=frozenset({"hr"}))
    assert found(kept, ANN) == ["PUC"]
    assert found(kept, EVE) == ["PUC", "VLT"]


def test_misspellings_of_a_new_term_are_found_at_once(kept):
    kept.senses.add("interposer", "general", "a layer between two chips")
    matcher = kept.lookup.matcher(ANN)
    assert [mention.term for mention in matcher.misspelt("an interpsoer", [])] == ["interposer"]


def test_an_incrementally_changed_matcher_equals_a_rebuilt_one(kept):
    for number in range(30):
        sense = kept.senses.add(f"T{number}", "general", f"meaning {number}", aliases=[f"name {number}", f"t-{number}"])
        if number % 3 == 0:
            kept.senses.retire(ROOT, sense.id, sense.version)
        kept.lookup.matcher(ANN)
    changed, fresh = kept.lookup.matcher(ANN), kept._views._matcher(frozenset({("[]", "[]")}))
    assert changed._entries == fresh._entries
    assert changed._terms == fresh._terms
    assert changed._beginnings >= fresh._beginnings
    for tables in ("_by_length", "_by_beginning", "_anagrams"):
        mine, anew = getattr(changed.near, tables), getattr(fresh.near, tables)
        assert {key: sorted(pool) for key, pool in mine.items() if pool} == {
            k: sorted(pool) for k, pool in anew.items()
        }


# -- at start ---------------------------------------------------------------------------------------------------------


def test_the_view_of_a_large_glossary_is_built_before_the_first_question(glossary, monkeypatch):
    glossary.warm()
    glossary._views.finish()
    monkeypatch.setattr(views.Views, "_make", lambda *_, **__: pytest.fail("a question had to wait"))
    assert found(glossary, ANN) == found(glossary, ROOT) == ["PUC"]


def test_the_view_of_a_small_glossary_is_built_on_demand(glossary, monkeypatch):
    monkeypatch.setattr(views, "LARGE_GLOSSARY_SENSES", 1000)
    glossary.warm()
    glossary._views.finish()
    assert glossary._views._views == {}

"""Tests of suggestions in the glossary's store: whose they are, who reads them, and what a decision says."""

import pytest
from glossary_engines import Glossaries

from argot.errors import Conflict, InvalidInput, NotFound, TooManyQuestions
from argot.jargon_db.glossary import Glossary
from argot.jargon_db.store.suggestions import MAX_PER_MINUTE
from argot.types import Principal

ADMIN = Principal("local", sees_all=True)
ANNA, BEN = Principal("anna"), Principal("ben")
HANS = Principal("hans", frozenset({"hr"}))
MONA = Principal("mona", frozenset({"managers"}))


@pytest.fixture
def glossary(glossaries: Glossaries) -> Glossary:
    made = glossaries.open()
    made.contexts.add("Sales", "", "sales@example.org", by=ADMIN)
    made.contexts.add("Staff", "", "staff@example.org", frozenset({"hr"}), by=ADMIN)
    return made


def test_the_same_suggestion_is_one_and_another_person_confirms_it(glossary: Glossary) -> None:
    first = glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list", context="sales")
    assert (first.context, first.origin, first.suggestions, first.confirmations) == ("Sales", "person", 1, 0)
    assert glossary.suggestions.suggest(ANNA, "qrl", "Quarterly  rebate list", context="Sales").id == first.id
    for _ in range(2):
        assert glossary.suggestions.suggest(BEN, "QRL", "quarterly rebate list").confirmations == 1
    assert glossary.suggestions.confirm(HANS, first.id).confirmations == 2
    assert glossary.suggestions.confirm(HANS, first.id).confirmations == 2
    with pytest.raises(Conflict, match="suggested this meaning yourself"):
        glossary.suggestions.confirm(ANNA, first.id)


def test_a_suggestion_for_a_restricted_context_stays_with_its_readers(glossary: Glossary) -> None:
    hidden = glossary.suggestions.suggest(HANS, "QRL", "quiet redundancy ledger", context="Staff")
    with pytest.raises(NotFound):
        glossary.suggestions.confirm(ANNA, hidden.id)
    with pytest.raises(NotFound):
        glossary.suggestions.comment(ANNA, hidden.id, "is it?")
    assert not glossary.proposals.find(ANNA, None, "QRL")
    # The words alone do not tell somebody that they were suggested before, even after a decision.
    glossary.proposals.dismiss(ADMIN, hidden.id, "a canary of a reason")
    own = glossary.suggestions.suggest(ANNA, "QRL", "quiet redundancy ledger")
    assert own.id != hidden.id
    assert (own.context, own.confirmations, own.why, own.status) == (None, 0, "", "open")
    messages = []
    for name in ("Staff", "Nowhere"):
        with pytest.raises(InvalidInput) as refused:
            glossary.suggestions.suggest(ANNA, "QRL", "x", context=name)
        messages.append(str(refused.value).replace(name, "-"))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("home", ["Sales", "Staff"])
def test_the_same_words_for_a_context_change_nothing_that_others_said(glossary: Glossary, home: str) -> None:
    first = glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list", description="As Anna says.")
    second = glossary.suggestions.suggest(HANS, "QRL", "quarterly rebate list", context=home, description="Of Hans.")
    assert (second.id != first.id, second.context, second.description) == (True, home, "Of Hans.")
    (kept,) = glossary.suggestions.list_own(ANNA, 10)
    assert kept == first
    # The next person finds both, and confirms the one that they mean.
    assert glossary.suggestions.suggest(BEN, "QRL", "quarterly rebate list").id == first.id
    assert glossary.suggestions.suggest(MONA, "QRL", "quarterly rebate list", context="Sales").confirmations == (
        1 if home == "Sales" else 0
    )


def test_a_confirmation_and_the_documents_leave_the_words_of_a_suggestion(glossary: Glossary) -> None:
    first = glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list")
    glossary.suggestions.suggest(BEN, "QRL", "quarterly rebate list", description="A list of Ben's.")
    evidence = [("p1", "the quarterly rebate list (QRL)")]
    glossary.proposals.add(
        "mined", "QRL", "quarterly rebate list", context="Sales", description="mined", evidence=evidence
    )
    (kept,) = glossary.suggestions.list_own(ANNA, 10)
    assert (kept.id, kept.context, kept.description, kept.confirmations) == (first.id, None, "", 1)
    assert kept.evidence == tuple(evidence)
    # What the confirming person says of it is kept as their own words.
    assert [one.words for one in glossary.suggestions.list_voices([first.id])[first.id]] == ["", "A list of Ben's."]


def test_a_person_names_the_context_of_their_own_suggestion_later(glossary: Glossary) -> None:
    first = glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list")
    assert glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list", context="Sales").id == first.id
    other = glossary.suggestions.suggest(ANNA, "TPX", "test plan index")
    glossary.suggestions.confirm(BEN, other.id)
    assert glossary.suggestions.suggest(ANNA, "TPX", "test plan index", context="Sales").id != other.id
    assert glossary.proposals.get(BEN, other.id).context is None


def test_a_restricted_suggestion_takes_no_mined_meaning_from_its_readers(glossary: Glossary) -> None:
    mined = glossary.proposals.add("mined", "QRL", "quarterly rebate list")
    assert glossary.suggestions.suggest(HANS, "QRL", "quarterly rebate list", context="Staff").id != mined.id
    assert glossary.proposals.get(ANNA, mined.id).context is None


def test_a_rejection_says_why_and_the_glossary_refuses_what_it_has(glossary: Glossary) -> None:
    made = glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list")
    glossary.suggestions.assign(MONA, made.id, "Mona")
    glossary.proposals.dismiss(MONA, made.id, "we say rebate sheet")
    with pytest.raises(Conflict, match="rejected, because: we say rebate sheet"):
        glossary.suggestions.suggest(BEN, "QRL", "quarterly rebate list")
    (own,) = glossary.suggestions.list_own(ANNA, 10)
    assert (own.status, own.why, own.reviewer) == ("dismissed", "we say rebate sheet", "Mona")
    glossary.senses.add("TPX", "Sales", "test plan index", by=ADMIN)
    with pytest.raises(Conflict, match="in the glossary already"):
        glossary.suggestions.suggest(BEN, "tpx", "Test Plan Index")


def test_descriptions_alone_are_suggestions_of_their_own(glossary: Glossary) -> None:
    one = glossary.suggestions.suggest(ANNA, "gemba", description="The place where the work is done.")
    other = glossary.suggestions.suggest(BEN, "gemba", description="A walk through the works.")
    assert one.id != other.id
    assert one.description == "The place where the work is done."
    with pytest.raises(InvalidInput, match="or describe it"):
        glossary.suggestions.suggest(ANNA, "gemba", " ")


def test_one_person_sends_a_few_a_minute(glossary: Glossary) -> None:
    for number in range(MAX_PER_MINUTE):
        glossary.suggestions.suggest(ANNA, f"T{number}", "a thing")
    with pytest.raises(TooManyQuestions, match="10 times a minute"):
        glossary.suggestions.suggest(ANNA, "more", "a thing")
    assert glossary.suggestions.suggest(BEN, "more", "a thing").status == "open"
    assert len(glossary.proposals.find(ADMIN)) == MAX_PER_MINUTE + 1


def test_evidence_of_a_removed_document_leaves_the_suggestion(glossary: Glossary) -> None:
    mined = glossary.proposals.add(
        "mined", "QRL", "quarterly rebate list", evidence=[("p1", "the quarterly rebate list (QRL)")]
    )
    suggested = glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list", context="Sales")
    assert suggested.id == mined.id
    assert suggested.evidence
    glossary.proposals.forget_evidence(["p1"])
    (left,) = glossary.proposals.find(ANNA)
    assert (left.id, left.evidence) == (mined.id, ())


def test_an_erased_person_leaves_neither_name_nor_comment(glossary: Glossary) -> None:
    made = glossary.suggestions.suggest(ANNA, "QRL", "quarterly rebate list")
    glossary.suggestions.confirm(BEN, made.id)
    glossary.suggestions.comment(BEN, made.id, "Ben says so")
    assert glossary.privacy.kept_of("ben")["voices"]
    glossary.privacy.erase_person(["ben"])
    voices = glossary.suggestions.list_voices([made.id])[made.id]
    assert [(one.kind, one.person) for one in voices] == [("suggest", "anna"), ("confirm", "erased person")]
    assert not glossary.privacy.kept_of("ben")

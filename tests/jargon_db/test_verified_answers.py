"""Tests of the store of verified answers, on both engines: whose question is found, and what is erased."""

from typing import Any

import pytest
from glossary_engines import Glossaries

from argot.jargon_db.glossary import Glossary
from argot.jargon_db.store.verified_answers import AnswerContent, CitedPassage, UsedSense

OWNER = ("mona", "Mona Marr")


@pytest.fixture
def glossary(glossaries: Glossaries) -> Glossary:
    return glossaries.open()


def make_content(text: str, document: str = "d1") -> AnswerContent:
    citation: dict[str, Any] = {"passage": f"p-{document}", "start": 3, "end": 9, "score": 0.75}
    return AnswerContent(
        sentences=[{"gap": "", "text": text, "citations": [citation]}],
        passages=[CitedPassage(f"p-{document}", document, "naïve „name“.md", 3, "digest")],
        senses=[UsedSense(7, "PUC", "digest")],
        defined=[7],
    )


def test_an_answer_is_found_by_its_words_or_by_what_is_asked(glossary: Glossary) -> None:
    store, content = glossary.verified, make_content("It takes 40 seconds – “about”.")
    id_ = store.add("How long?", ("how long", "long"), content, OWNER)
    store.add("x" * 4000, ("x" * 4000, ""), content, OWNER)
    for keys in (("how long", ""), ("other", "long"), ("how long", "long")):
        (found,) = store.find(keys)
        assert (found.id, found.question, found.content, found.owner_name) == (id_, "How long?", content, "Mona Marr")
    assert store.find(("other", "")) == store.find(("other", "other")) == []
    assert len(store.find(("x" * 4000, ""))) == 1
    changed = make_content("It takes 50 seconds.")
    store.renew(id_, changed, ("ben", ""))
    renewed = store.get(id_)
    assert renewed is not None and renewed.at >= found.at
    assert (renewed.content, renewed.owner, renewed.question) == (changed, "ben", "How long?")
    store.remove(id_)
    assert store.get(id_) is None and store.find(("how long", "long")) == []


def test_erased_documents_take_their_answers_with_them(glossary: Glossary) -> None:
    store = glossary.verified
    ids = [store.add(one, (one, ""), make_content(f"Of {one}.", one), OWNER) for one in ("d1", "d2", "d3")]
    store.erase(lambda id_: id_ == "d1", lambda text, _: text == "Of d2.")
    assert [one.id for one in store.list_all()] == ids[2:]


def test_an_erased_person_is_named_nowhere(glossary: Glossary) -> None:
    glossary.verified.add("q", ("q", ""), make_content("x"), OWNER)
    assert [one["question"] for one in glossary.privacy.kept_of("mona")["verified_answers"]] == ["q"]
    glossary.privacy.erase_person(["mona"])
    (found,) = glossary.verified.list_all()
    assert (found.owner, found.owner_name) == ("erased person", "")

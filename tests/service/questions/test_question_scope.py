"""Tests of questions limited to some documents by tag, date and fields, which come from the files or from managers."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import DocumentField, Principal, QuestionScope

MIA = Principal("mia", frozenset({"managers"}))
ANN = Principal("ann")
FRONT = b"---\ndate: 2025-03-01\nauthor: Ann Other\nregion: EU\ntags: [hr, leave]\n---\n"
EU = FRONT + b"# Leave in the EU\n\nAnnual leave is 30 days.\n"
US = b"---\nupdated: 2023-06-01\nregion: US\ntags:\n  - hr\n---\n# Leave in the US\n\nAnnual leave is 15 days.\n"
ASKED = "How many days is the annual leave?"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        await catalogue.uploads.upload(opened, MIA, name="leave-eu.md", data=EU)
        await catalogue.uploads.upload(opened, MIA, name="leave-us.md", data=US, tags=["policy"])
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


async def sources(kb: KnowledgeBase, who: Principal = MIA, **scope: Any) -> set[str]:
    found = await do(kb, who, "ask", question=ASKED, **scope)
    return {one["document"] for one in found["passages"]}


async def test_metadata_of_files_become_fields(kb: KnowledgeBase) -> None:
    shown = (await do(kb, MIA, "show", document="leave-eu.md"))["document"]
    assert shown["date"] == "2025-03-01"
    assert [(one["name"], one["value"]) for one in shown["fields"]] == [
        ("author", "Ann Other"),
        ("region", "EU"),
        ("tag", "hr"),
        ("tag", "leave"),
    ]


async def test_a_question_may_be_limited_by_date_tag_and_fields(kb: KnowledgeBase) -> None:
    assert await sources(kb) > {"leave-eu.md", "leave-us.md"}
    assert await sources(kb, since="2024") == {"leave-eu.md"}
    assert await sources(kb, fields={"region": ["us"]}) == {"leave-us.md"}
    assert await sources(kb, fields={"region": ["US", "EU"]}) == {"leave-eu.md", "leave-us.md"}
    assert await sources(kb, tags=["hr"], fields={"region": ["EU"]}) == {"leave-eu.md"}
    assert await sources(kb, tags=["policy"]) == {"leave-us.md"}
    found = await do(kb, MIA, "ask", question=ASKED, since="2024", fields={"Region": ["EU"]})
    assert "30 days" in found["answer"] and "15 days" not in found["answer"]
    assert (found["since"], found["fields"]) == ("2024", {"region": ["EU"]})
    assert "Only documents dated 2024 or later and with region “EU” were searched." in found["notes"]
    searched = await do(kb, MIA, "search", query=ASKED, fields={"region": ["US"]})
    assert {one["document"] for one in searched["passages"]} == {"leave-us.md"}


async def test_documents_and_tags_that_are_chosen_together_add_up(kb: KnowledgeBase) -> None:
    both = {"documents": ["leave-eu.md"], "tags": ["policy"]}
    assert await sources(kb, **both) == {"leave-eu.md", "leave-us.md"}
    # The conversation keeps what was chosen, not what the tag means today.
    thread = (await do(kb, MIA, "ask", question=ASKED))["thread"]
    kept = await do(kb, MIA, "thread_settings", thread=thread, **both)
    assert len(kept["settings"]["documents"]) == 1 and kept["settings"]["tags"] == ["policy"]
    await catalogue.uploads.upload(kb, MIA, name="sick.md", data=b"# Sick\n\nSick leave is paid.\n", tags=["policy"])
    found = await do(kb, MIA, "ask", question="Is sick leave paid?", thread=thread)
    assert found["passages"][0]["document"] == "sick.md"


async def test_searches_return_only_documents_within_the_scope(kb: KnowledgeBase) -> None:
    corpus = await kb.load()
    inside = corpus.store.documents_within(MIA, QuestionScope(fields=(DocumentField("region", "EU"),)))
    vector = corpus.embedder.embed_queries([ASKED])[0]
    # The best passage within the scope is found although others are nearer: the scope applies before the cut.
    by_meaning = corpus.search_semantic(MIA, "passage", corpus.embedder.embed_queries(["drive"])[0], 1, inside)
    by_words = corpus.store.keyword_search(MIA, "leave days", 1, inside)
    for found in (by_meaning, by_words, corpus.search_semantic(MIA, "passage", vector, 1, inside)):
        ((passage, _),) = found
        assert corpus.store.passages(MIA, [passage])[passage][1].name == "leave-eu.md"
    assert corpus.search_semantic(MIA, "passage", vector, 5, frozenset()) == []
    assert corpus.store.keyword_search(MIA, "leave days", 5, frozenset()) == []


async def test_vectors_deleted_meanwhile_do_not_stop_a_scoped_search(kb: KnowledgeBase) -> None:
    corpus = await kb.load()
    vector = corpus.embedder.embed_queries([ASKED])
    (audience,) = corpus.store.list_audiences(ANN)
    held = corpus.vectors.ids(corpus.vectors.collection_name("passage", audience))
    only = {audience: [*held[:2], "gone:0"]}
    assert len(corpus.vectors.searches("passage", vector, [audience], 5, only)[0]) == 2


async def test_the_answer_says_that_a_scope_is_empty(kb: KnowledgeBase) -> None:
    found = await do(kb, MIA, "ask", question=ASKED, since="2026-01-01", tags=["hr"])
    told = "You may read no document tagged “hr” and dated 2026-01-01 or later, so nothing was searched."
    assert (found["status"], found["answer"], found["notes"]) == ("abstained", told, [])
    none = await do(kb, MIA, "ask", question=ASKED, fields={"region": ["Asia"]}, tags=["hr"])
    assert (none["answer"], none["notes"]) == (
        "You may read no document tagged “hr” and with region “Asia”, so nothing was searched. "
        "Values of region: EU, US.",
        [],
    )


async def test_possible_values_are_offered_as_far_as_the_asker_may_know_them(kb: KnowledgeBase) -> None:
    for number in range(9):
        text = f"---\nregion: R{number}\n---\n# Leave {number}\n\nText.\n".encode()
        await catalogue.uploads.upload(kb, MIA, name=f"r{number}.md", data=text, audience=["managers"])
    told = "Values of region: EU, R0, R1, R2, R3, R4, R5, R6 and others."
    assert (await do(kb, MIA, "ask", question=ASKED, fields={"region": ["x"]}))["answer"].endswith(told)
    assert (await do(kb, ANN, "ask", question=ASKED, fields={"region": ["x"]}))["answer"].endswith("region: EU, US.")
    # The value exists, but no document has both it and the date.
    dated = await do(kb, ANN, "ask", question=ASKED, fields={"region": ["eu"]}, since="2026")
    assert dated["answer"].endswith("dated 2026 or later and with region “eu”, so nothing was searched.")


async def test_invalid_dates_and_unknown_fields_are_named_in_the_error(kb: KnowledgeBase) -> None:
    for wrong in ("01/02/2025", "2025-3-1", "2025-13", "yesterday"):
        with pytest.raises(InvalidInput, match="is not a date"):
            await do(kb, MIA, "ask", question=ASKED, since=wrong)
    with pytest.raises(InvalidInput, match="Fields: author, language, region, tag"):
        await do(kb, MIA, "ask", question=ASKED, fields={"regoin": ["EU"]})


async def test_fields_reveal_nothing_of_documents_closed_to_the_asker(kb: KnowledgeBase) -> None:
    data = b"---\nproject: Falcon\n---\n# Plan\n\nThe plan is secret.\n"
    await catalogue.uploads.upload(kb, MIA, name="plan.md", data=data, audience=["managers"])
    with pytest.raises(InvalidInput) as told:
        await do(kb, ANN, "ask", question="What is the plan?", fields={"project": ["Falcon"]})
    assert "Fields: author, language, region, tag." in str(told.value)
    assert await sources(kb, MIA, fields={"project": ["Falcon"]}) == {"plan.md"}


async def test_fields_given_by_managers_survive_a_new_reading(kb: KnowledgeBase) -> None:
    labelled = await do(kb, MIA, "document_label", document="leave-us.md", fields={"region": ["Americas"]})
    assert DocumentField("region", "Americas") in [DocumentField(**one) for one in labelled["fields"]]
    assert await sources(kb, fields={"region": ["Americas"]}) == {"leave-us.md"}
    await do(kb, MIA, "document_reread", document="leave-us.md")
    assert await sources(kb, fields={"region": ["Americas"]}) == {"leave-us.md"}
    assert await sources(kb, fields={"region": ["US", "EU"]}) == {"leave-eu.md"}
    with pytest.raises(InvalidInput, match="of at most 200 characters"):
        await do(kb, MIA, "document_label", document="leave-us.md", fields={"region": ["x" * 201]})


async def test_a_thread_keeps_its_scope(kb: KnowledgeBase) -> None:
    thread = (await do(kb, MIA, "ask", question="What does a drive do?"))["thread"]
    await do(kb, MIA, "thread_settings", thread=thread, since="2024", fields={"region": ["EU"]})
    assert await sources(kb, thread=thread) == {"leave-eu.md"}
    assert await sources(kb, thread=thread, fields={"region": ["US"]}, since="2020") == {"leave-us.md"}

"""Tests of verified answers: who verifies them, who gets them, when they expire, and what is erased with them."""

import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from argot.corpus.corpus import Source
from argot.errors import InvalidInput, NotAllowed, NotFound
from argot.graph import verified_answers as verified_sources
from argot.graph.state import CitationRecord, SentenceRecord
from argot.graph.verified_answers import build_content, read_sentences
from argot.jargon_db.store.verified_answers import VerifiedAnswer
from argot.results import AskResult
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import remove
from argot.service.usecases.people.personal_data import user_erase, user_export
from argot.service.usecases.questions.conversations import Message, converse
from argot.service.usecases.questions.questions import ask, ask_again, run_context
from argot.service.usecases.questions.threads import thread_read
from argot.service.usecases.questions.verified_answers import (
    VerifiedShown,
    verified_add,
    verified_draft,
    verified_list,
    verified_remove,
    verified_renew,
)
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.tools.retrieval.triple_extraction import ExtractiveDeriver
from argot.types import Principal

ROOT = Principal("root", sees_all=True)
MONA = Principal("mona", frozenset({"managers", "vault"}))
NINA = Principal("nina", manages=frozenset({"NAND"}))
TOM = Principal("tom", frozenset({"managers"}))
IVO = Principal("ivo", frozenset({"vault"}))
OLGA = Principal("olga")
TRIM = "How long does trimming a drive take?"
VAULT = "How often is the vault combination rotated?"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        opened.people.add("mona", ("managers", "vault"), display_name="Mona Marr")
        opened.people.add("ivo", ("vault",))
        yield opened


async def asked(kb: KnowledgeBase, who: Principal, question: str, **given: Any) -> AskResult:
    return await get_answer(ask(kb, who, question=question, **given))


async def verify(kb: KnowledgeBase, who: Principal, question: str, text: str = "") -> VerifiedShown:
    found = await asked(kb, who, question, switches={"find_verified": False})
    return await verified_add(kb, who, thread=found.thread, turn=found.turn, text=text)


def replace_document(kb: KnowledgeBase, name: str, text: str, audience: frozenset[str] = frozenset()) -> None:
    source = Source(uri=f"test:///{name}", name=name, load=text.encode)
    for event in kb.corpus.add([source], deriver=ExtractiveDeriver(), audience=audience, tags=()):
        assert event.kind != "failed", event.detail


def find_id(kb: KnowledgeBase, name: str) -> str:
    return next(one.id for one in kb.document_store.documents(ROOT) if one.name == name)


async def test_the_same_question_gets_the_verified_answer_with_its_citations(kb: KnowledgeBase) -> None:
    before = await asked(kb, MONA, TRIM)
    made = await verified_add(kb, MONA, thread=before.thread, turn=before.turn)
    assert (made.by, made.own, made.expired, made.documents) == ("Mona Marr", True, [], ["drive-tool.md"])
    for question in (
        TRIM,
        "how long  does trimming a drive take",
        "Can you tell me how long trimming the drive takes?",
    ):
        given = await asked(kb, OLGA, question)
        assert given.verified is not None and given.verified.by == "Mona Marr", question
        assert given.answered_by == "person" and "retrieve" not in given.timings
        assert f"This answer was verified by Mona Marr on {made.at[:10]}." in given.notes
        assert [(one.text, [cited.passage_id for cited in one.citations]) for one in given.sentences] == [
            (one.text, [cited.passage_id for cited in one.citations]) for one in before.sentences
        ]
        assert [one.n for one in given.cited_passages] == [one.n for one in before.cited_passages]
        assert (await thread_read(kb, OLGA, thread=given.thread)).turns[-1].verified == given.verified
    for other in ("How long does trimming two drives take?", "Why does trimming a drive take long?", "hello"):
        assert (await asked(kb, OLGA, other)).verified is None, other
    told = await get_answer(converse(kb, OLGA, messages=[Message(role="user", content=TRIM)]))
    assert told.verified is not None


async def test_nobody_without_a_right_to_a_cited_passage_gets_a_hint(kb: KnowledgeBase) -> None:
    plain = convert_to_json(await asked(kb, OLGA, VAULT))
    await verify(kb, MONA, VAULT)
    given = await asked(kb, IVO, VAULT)
    assert given.verified is not None and "14 days" in given.answer
    now = convert_to_json(await asked(kb, OLGA, VAULT))
    for one in (plain, now):
        one["timings"] = sorted(one["timings"])
        one["thread"] = ""
    assert now == plain
    canary = json.dumps(now).casefold()
    assert not [word for word in ("14 days", "liaison", "mona", "handbook.md") if word in canary]
    # A manager without the right neither sees it in the list nor may drop it.
    assert await verified_list(kb, TOM) == []
    (made,) = await verified_list(kb, MONA)
    for forbidden in (verified_remove, verified_renew):
        with pytest.raises(NotFound):
            await forbidden(kb, TOM, answer=made.id)
    # Who loses the right loses the answer in old conversations too.
    lost = replace(IVO, groups=frozenset())
    turn = (await thread_read(kb, lost, thread=given.thread)).turns[-1]
    assert turn.verified is None and "14 days" not in json.dumps(convert_to_json(turn))
    assert (await asked(kb, lost, VAULT)).verified is None


async def test_only_askers_who_may_know_the_terms_get_it_and_only_in_these_senses(kb: KnowledgeBase) -> None:
    # The document is everybody's, the term in the question is not.
    replace_document(kb, "teams.md", "# Teams\n\nThe VLT meets in room 7 on Mondays.\n")
    question = "In which room does the VLT meet?"
    await verify(kb, MONA, question)
    assert (await asked(kb, IVO, question)).verified is not None
    assert (await asked(kb, OLGA, question)).verified is None
    # The asker's own context decides what PUC means, and the answer is for one meaning.
    puc = "What is a PUC?"
    done = await asked(kb, MONA, puc, context="NAND")
    await verified_add(kb, MONA, thread=done.thread, turn=done.turn)
    assert (await asked(kb, OLGA, puc, context="NAND")).verified is not None
    assert (await asked(kb, OLGA, puc, context="Legal")).verified is None
    sense = next(one for one in kb.glossary.senses.find(ROOT) if one.term == "PUC" and one.context == "NAND")
    kb.glossary.senses.retire(ROOT, sense.id, sense.version)
    assert any("PUC" in reason for one in await verified_list(kb, ROOT) for reason in one.expired)


async def test_who_may_verify(kb: KnowledgeBase) -> None:
    for who, question, allowed in (
        (NINA, "What is the WL voltage during a read?", True),
        (NINA, TRIM, False),
        (OLGA, TRIM, False),
    ):
        found = await asked(kb, who, question)
        if allowed:
            assert (await verified_add(kb, who, thread=found.thread, turn=found.turn)).by == "nina"
            continue
        for refused in (verified_add, verified_draft):
            with pytest.raises(NotAllowed):
                await refused(kb, who, thread=found.thread, turn=found.turn)
    with pytest.raises(NotFound):  # a conversation is its owner's
        await verified_add(kb, ROOT, thread=found.thread, turn=found.turn)
    (made,) = await verified_list(kb, NINA)
    assert made.by == "nina"
    # Who looks after another context now may drop it, and not vouch for it once more.
    moved = replace(NINA, manages=frozenset({"Legal"}))
    with pytest.raises(NotAllowed):
        await verified_renew(kb, moved, answer=made.id)
    assert (await verified_remove(kb, moved, answer=made.id)).id == made.id


async def test_edited_sentences_have_to_rest_on_passages(kb: KnowledgeBase) -> None:
    found = await asked(kb, MONA, TRIM)
    place = {"thread": found.thread, "turn": found.turn}
    assert "40 seconds" in (await verified_draft(kb, MONA, **place)).answer
    for text in ("Trimming a drive takes about 90 seconds.", "Trimming takes 40 seconds. The CEO likes it.", "-", "  "):
        with pytest.raises(InvalidInput):
            await verified_add(kb, MONA, **place, text=text)
    assert await verified_list(kb, MONA) == []
    await verified_add(kb, MONA, **place, text="It takes about 40 seconds to trim a drive.")
    given = await asked(kb, OLGA, TRIM)
    assert given.answer == "It takes about 40 seconds to trim a drive."
    assert given.sentences[0].supported and given.sentences[0].citations
    # Verified once more: the answer before is replaced.
    await verify(kb, MONA, TRIM)
    assert len(await verified_list(kb, MONA)) == 1


async def test_it_expires_when_a_cited_passage_changes_and_not_before(kb: KnowledgeBase) -> None:
    text = kb.document_store.markdown(ROOT, kb.document_store.document(ROOT, "drive-tool.md").revision_id)
    made = await verify(kb, MONA, TRIM)
    replace_document(kb, "drive-tool.md", f"# News\n\nA passage before it.\n\n{text}")
    given = await asked(kb, OLGA, TRIM)
    assert given.verified is not None and given.sentences[0].citations
    (first, last), passage = given.sentences[0].citations[0].span, given.cited_passages[0]
    revision = given.sentences[0].citations[0].revision
    assert "40 seconds" in kb.document_store.markdown(OLGA, revision)[first:last] and "40 seconds" in passage.text
    replace_document(kb, "drive-tool.md", text.replace("40 seconds", "50 seconds"))
    now = await asked(kb, OLGA, TRIM)
    assert now.verified is None and "50 seconds" in now.answer
    (expired,) = await verified_list(kb, MONA, expired=True)
    assert expired.id == made.id and expired.expired == ["“drive-tool.md” changed where the answer cites it."]
    with pytest.raises(InvalidInput, match="40 seconds"):
        await verified_renew(kb, MONA, answer=made.id)
    await verified_renew(kb, MONA, answer=made.id, text="Trimming a drive takes about 50 seconds.")
    assert await verified_list(kb, MONA, expired=True) == []
    assert (await asked(kb, OLGA, TRIM)).answer == "Trimming a drive takes about 50 seconds."
    # What was given before does not seem to say what was verified since.
    old = (await thread_read(kb, OLGA, thread=given.thread)).turns[-1]
    assert old.verified is None and "50 seconds" not in old.answer


SHORT = """# Drying oven

## Heat

The drying oven of the pottery is heated to 64 degrees.

## Hours

{hours}
"""


async def test_it_lives_while_the_section_that_it_cites_is_unchanged(kb: KnowledgeBase) -> None:
    """Check a file so short that it is one passage, in which something else changes."""
    question = "To how many degrees is the drying oven of the pottery heated?"
    text = SHORT.format(hours="It runs on Mondays.")
    replace_document(kb, "oven.md", text)
    assert len(kb.document_store.passages_of(ROOT, find_id(kb, "oven.md"))) == 1
    await verify(kb, MONA, question)
    replace_document(kb, "oven.md", f"# News\n\nA text before it.\n\n{text.replace('Mondays', 'Fridays')}")
    given = await asked(kb, OLGA, question)
    assert given.verified is not None and await verified_list(kb, MONA, expired=True) == []
    (citation,) = given.sentences[0].citations
    first, last = citation.span
    now = kb.document_store.markdown(OLGA, citation.revision)
    assert "Fridays" in now and now[first:last] == "The drying oven of the pottery is heated to 64 degrees."
    for changed in (text.replace("64", "70"), text.replace("## Heat", "## Heat until 2019")):
        replace_document(kb, "oven.md", changed)
        assert (await asked(kb, OLGA, question)).verified is None
    replace_document(kb, "oven.md", text)
    assert (await asked(kb, OLGA, question)).verified is not None


FEES = """# Fees

A late filing costs this:

## Amount

500 euro.

## Deadline

{deadline}
"""
CITED = "A late filing costs this:\n\n## Amount\n\n500 euro."


async def test_a_citation_of_two_sections_holds_while_both_are_unchanged(kb: KnowledgeBase) -> None:
    text = FEES.format(deadline="It is in May.")
    replace_document(kb, "fees.md", text)
    (passage,) = kb.document_store.passages_of(ROOT, find_id(kb, "fees.md"))
    start = text.index(CITED)
    cited = CitationRecord(passage=passage.id, start=start, end=start + len(CITED), score=1.0)
    sentence = SentenceRecord(text="A late filing costs 500 euro.", citations=[cited], gap="")
    document = next(one for one in kb.document_store.documents(ROOT) if one.name == "fees.md")
    content = build_content([sentence], {passage.id: (passage, document)}, [], [], kb.document_store)
    answer = VerifiedAnswer(id=1, question="", content=content, owner="mona", owner_name="Mona", at="")

    def read_cited() -> str | None:
        sentences = read_sentences(answer, kb.document_store, kb.glossary, OLGA)
        if sentences is None:
            return None
        (there,) = sentences[0]["citations"]
        found, _ = kb.document_store.passages(OLGA, [there["passage"]])[there["passage"]]
        return kb.document_store.markdown(OLGA, found.revision_id)[there["start"] : there["end"]]

    replace_document(kb, "fees.md", "# News\n\nA text before it.\n\n" + text.replace("May", "June"))
    assert read_cited() == CITED
    for changed in (
        text.replace("500", "5"),
        text.replace("costs this", "cost this until 2019"),
        text.replace("## Amount", "## Amount until 2019"),
        text.replace("## Amount", "## Validity\n\nThis is not in force any more:\n\n## Amount"),
    ):
        replace_document(kb, "fees.md", changed)
        assert read_cited() is None, changed
    replace_document(kb, "fees.md", text.replace("this:\n", "this:\n\n\n"))
    assert (read_cited() or "").split() == CITED.split()


async def test_a_term_that_only_documents_explain_has_no_meaning_that_lasts(kb: KnowledgeBase) -> None:
    text = "# Records\n\nThe quarterly audit record is kept for nine years."
    replace_document(kb, "records.md", text)
    question = "For how many years is the QAR kept?"
    found = await asked(kb, MONA, question)
    assert "nine years" in found.answer
    with pytest.raises(InvalidInput, match="the glossary lacks it"):
        await verified_add(kb, MONA, thread=found.thread, turn=found.turn)


async def test_a_removed_document_ends_it_and_an_erased_one_deletes_it(kb: KnowledgeBase) -> None:
    await verify(kb, MONA, TRIM)
    await verify(kb, MONA, VAULT)
    document = find_id(kb, "drive-tool.md")
    await remove(kb, ROOT, document=document)
    assert (await asked(kb, OLGA, TRIM)).verified is None
    (expired,) = await verified_list(kb, MONA, expired=True)
    assert expired.expired == ["“drive-tool.md” was removed."]
    assert await verified_list(kb, TOM, expired=True) == []  # nobody can tell whether he could read it
    await remove(kb, ROOT, document=find_id(kb, "vault-handbook.md"), forever=True)
    assert [one.question for one in await verified_list(kb, MONA)] == [TRIM]
    assert b"14 days" not in (kb.home / "glossary.db").read_bytes()
    await verified_remove(kb, MONA, answer=expired.id)
    assert await verified_list(kb, ROOT) == []


async def test_an_answer_is_not_given_while_its_owner_is_suspended(kb: KnowledgeBase) -> None:
    await verify(kb, MONA, TRIM)
    kb.people.suspend("mona")
    assert (await asked(kb, OLGA, TRIM)).verified is None
    (expired,) = await verified_list(kb, ROOT, expired=True)
    assert expired.expired == ["The account of the person who verified it is closed."]
    kb.people.restore("mona")
    assert (await asked(kb, OLGA, TRIM)).verified is not None
    kb.people.suspend("mona")
    await verified_renew(kb, ROOT, answer=expired.id)
    assert (await asked(kb, OLGA, TRIM)).verified is not None


async def test_the_last_answer_of_a_conversation_is_verified_by_default(kb: KnowledgeBase) -> None:
    first = await asked(kb, MONA, VAULT)
    await asked(kb, MONA, TRIM, thread=first.thread)
    assert (await verified_draft(kb, MONA, thread=first.thread)).question == TRIM
    assert (await verified_add(kb, MONA, thread=first.thread)).question == TRIM


async def test_all_answers_are_listed_by_a_few_reads(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    for question in (TRIM, VAULT, "What is the Word Line voltage during a read?"):
        await verify(kb, MONA, question)
    reads: list[str] = []
    for name in ("read_documents", "_find_current"):
        real = getattr(verified_sources, name)
        monkeypatch.setattr(verified_sources, name, lambda *given, _n=name, _r=real: (reads.append(_n), _r(*given))[1])
    assert len(await verified_list(kb, MONA)) == 3
    assert sorted(reads) == ["_find_current", "read_documents"]


async def test_an_erased_person_vouches_for_nothing(kb: KnowledgeBase) -> None:
    await verify(kb, MONA, TRIM)
    kept = (await user_export(kb, ROOT, name="mona")).glossary["mona"]["verified_answers"]
    assert [one["question"] for one in kept] == [TRIM]
    given = await asked(kb, OLGA, TRIM)
    await user_erase(kb, ROOT, name="mona")
    assert (await asked(kb, OLGA, TRIM)).verified is None
    old = (await thread_read(kb, OLGA, thread=given.thread)).turns[-1]
    assert "mona" not in json.dumps(convert_to_json(old)).casefold()
    (expired,) = await verified_list(kb, ROOT)
    assert (expired.by, expired.expired) == ("", ["The person who verified it was erased."])
    await verified_renew(kb, ROOT, answer=expired.id)
    assert (await asked(kb, OLGA, TRIM)).verified is not None


async def test_where_it_is_not_given(kb: KnowledgeBase) -> None:
    await verify(kb, MONA, TRIM)
    await verify(kb, MONA, "What does a late tariff filing cost?")
    document = find_id(kb, "drive-tool.md")
    for given in (
        {"switches": {"find_verified": False}},
        {"documents": [document]},
        {"since": "2001"},
        {"profile": "plain_rag"},
    ):
        assert (await asked(kb, OLGA, TRIM, **given)).verified is None, given
    first = await asked(kb, OLGA, TRIM)
    assert first.verified is not None
    again = await get_answer(ask_again(kb, OLGA, thread=first.thread))
    assert again.verified is None and "40 seconds" in again.answer
    follow_up = await asked(kb, OLGA, "And a late tariff filing, what does it cost?", thread=first.thread)
    assert follow_up.verified is None
    for narrowed in ({"documents": [document]}, {"tags": ["nothing"]}):
        found = await asked(kb, MONA, TRIM, **narrowed)
        with pytest.raises(InvalidInput):
            await verified_add(kb, MONA, thread=found.thread, turn=found.turn)


async def test_no_measurement_gets_it(kb: KnowledgeBase) -> None:
    from argot.graph.single_question import SingleQuestions

    await verify(kb, MONA, TRIM)
    run = await run_context(kb, OLGA)
    (measured,) = [await SingleQuestions().ask([(replace(run, records_misses=False), TRIM)])]
    assert "40 seconds" in json.dumps(convert_to_json(measured)) and "Mona" not in json.dumps(convert_to_json(measured))


async def test_a_models_answer_is_verified_and_given_without_the_model(
    tiny_home: Path, tmp_path: Path, scripted_model: Any
) -> None:
    question = "How do I trim a drive?"
    said = "To trim a drive, open the Media panel and click on Trim [1]."
    home = Path(shutil.copytree(tiny_home, tmp_path / "with-model"))
    async with KnowledgeBase.open(home, scripted_model.settings(home=home)) as kb:
        scripted_model.reply("cited_answer", f"{said} The moon is made of green cheese and shines at night [2].")
        first = await asked(kb, MONA, question)
        place = {"thread": first.thread, "turn": first.turn}
        assert first.answered_by == "model"
        with pytest.raises(InvalidInput, match="green cheese"):
            await verified_add(kb, MONA, **place)
        await verified_add(kb, MONA, **place, text=said)
        written = len(scripted_model.asked("cited_answer"))
        given = await asked(kb, OLGA, "how can I trim the drive")
        assert given.verified is not None and (given.answered_by, given.model) == ("person", "")
        assert given.answer == "To trim a drive, open the Media panel and click on Trim."
        assert given.sentences[0].supported and len(scripted_model.asked("cited_answer")) == written

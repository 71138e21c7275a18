"""Tests of the use cases of the chat window, without a window or browser. Other surfaces may offer them too."""

import base64
import io
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from depot import DEPOT, NIGHT_TRAIN, pdf

from argot.errors import Conflict, InvalidInput, InvalidSettings, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

QUESTION = "What is the WL voltage during a read?"
TARIFF = "How much does a late tariff filing cost?"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        kb.people.add("ann")
        kb.people.add("bob")
        kb.people.add("mia", ("managers",))
        yield kb


async def call(kb: KnowledgeBase, who: str | Principal, case: str, /, **parameters: Any) -> Any:
    principal = kb.principal(who) if isinstance(who, str) else who
    return await catalogue.get_result(kb, principal, case, **parameters)


async def put(kb: KnowledgeBase, folder: Path, name: str, data: str | bytes, **parameters: Any) -> None:
    _written(folder / name, data if isinstance(data, bytes) else data.encode())
    done = await call(kb, "mia", "add", paths=[str(folder / name)], **parameters)
    assert done["problems"] == []


def _written(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


# -- correcting a misread term ----------------------------------------------------------------------------------------


async def test_a_misread_term_is_asked_again_in_its_other_sense(kb: KnowledgeBase) -> None:
    asked = await call(kb, "ann", "ask", question="Which clean room does the PUC bonding step need?")
    assert [one["expansion"] for one in asked["jargon"]] == ["Peripheral Under Cell"]
    thread = asked["thread"]
    offer = await call(kb, "ann", "other_senses", thread=thread, turn=0, term="PUC")
    assert [one["expansion"] for one in offer["senses"]] == ["Public Utilities Commission"]

    sense = offer["senses"][0]["id"]
    again = await call(kb, "ann", "ask_in_sense", thread=thread, turn=0, term="PUC", sense=sense)
    assert (again["turn"], again["question"]) == (1, asked["question"])
    assert [one["expansion"] for one in again["jargon"]] == ["Public Utilities Commission"]
    later = await call(kb, "ann", "ask", question="What must be bonded for the PUC?", thread=thread)
    # The sense is kept for the thread.
    assert [one["expansion"] for one in later["jargon"]] == ["Public Utilities Commission"]


async def test_a_sense_of_another_term_is_refused(kb: KnowledgeBase) -> None:
    asked = await call(kb, "ann", "ask", question="Which clean room does the PUC bonding step need?")
    other = (await call(kb, "ann", "ask", question=QUESTION))["jargon"][0]["sense_id"]
    for parameters in ({"term": "PUC", "sense": other}, {"term": "WL", "sense": other}):
        with pytest.raises(NotFound):
            await call(kb, "ann", "ask_in_sense", thread=asked["thread"], turn=0, **parameters)
    with pytest.raises(NotFound):
        await call(kb, "ann", "other_senses", thread=asked["thread"], turn=7, term="PUC")


async def test_a_term_without_a_fitting_sense_is_reported_to_the_managers(kb: KnowledgeBase) -> None:
    asked = await call(kb, "ann", "ask", question=QUESTION)
    assert (await call(kb, "ann", "thread_read", thread=asked["thread"]))["shared"] is False
    await call(kb, "ann", "report_term", thread=asked["thread"], turn=0, term="WL")
    queued = {one["term"]: one for one in await call(kb, "mia", "glossary_queue")}
    assert QUESTION in str(queued["WL"])
    assert (await call(kb, "ann", "thread_read", thread=asked["thread"]))["shared"] is True


# -- answering again, and settings ------------------------------------------------------------------------------------


async def test_answering_again_replaces_the_answer_and_its_feedback(kb: KnowledgeBase) -> None:
    thread = (await call(kb, "ann", "ask", question=TARIFF))["thread"]
    await call(kb, "ann", "ask", question=QUESTION, thread=thread)
    await call(kb, "ann", "feedback", thread=thread, turn=1, value=-1)
    again = await call(kb, "ann", "ask_again", thread=thread)
    assert (again["turn"], again["question"]) == (1, QUESTION)
    read = await call(kb, "ann", "thread_read", thread=thread)
    assert [turn["question"] for turn in read["turns"]] == [TARIFF, QUESTION]
    assert read["feedback"] == []
    later = await call(kb, "ann", "ask", question=TARIFF, thread=thread)
    assert later["turn"] == 2  # the next question replaces nothing
    empty = await (await kb.threads()).start("ann", "empty")
    with pytest.raises(Conflict):
        await call(kb, "ann", "ask_again", thread=empty.id)


async def test_a_stopped_question_says_so_and_can_be_asked_again(kb: KnowledgeBase) -> None:
    thread = (await call(kb, "ann", "ask", question=TARIFF))["thread"]
    events = catalogue.dispatch(kb, kb.principal("ann"), "ask", {"question": QUESTION, "thread": thread})
    async for event in events:
        if event["name"] == "retrieve":
            break
    await events.aclose()
    read = await call(kb, "ann", "thread_read", thread=thread)
    assert "stopped" in read["turns"][1]["answer"] and not read["waiting"]
    assert "500 dollars" in read["turns"][0]["answer"]
    assert "4.5 V" in (await call(kb, "ann", "ask", question=QUESTION, thread=thread))["answer"]
    assert len((await call(kb, "ann", "thread_read", thread=thread))["turns"]) == 2


async def test_tags_limit_the_search_and_the_answer_says_so(kb: KnowledgeBase, tmp_path: Path) -> None:
    await put(
        kb, tmp_path / "put", "fees.md", "# Fees\n\nA late tariff filing costs 70 crowns in Norway.\n", tags=["no"]
    )
    everywhere = await call(kb, "ann", "ask", question=TARIFF)
    assert {one["document"] for one in everywhere["passages"]} > {"fees.md"}
    narrow = await call(kb, "ann", "ask", question=TARIFF, tags=["no"])
    assert {one["document"] for one in narrow["passages"]} == {"fees.md"}
    assert narrow["tags"] == ["no"] and any("tagged “no”" in note for note in narrow["notes"])
    nothing = await call(kb, "ann", "ask", question=TARIFF, tags=["nobody has this"])
    assert (nothing["status"], nothing["passages"]) == ("abstained", [])
    assert nothing["answer"].startswith("You may read no document tagged “nobody has this”")


async def test_settings_are_kept_for_one_conversation_only(kb: KnowledgeBase, tmp_path: Path) -> None:
    await put(
        kb, tmp_path / "put", "fees.md", "# Fees\n\nA late tariff filing costs 70 crowns in Norway.\n", tags=["no"]
    )
    thread = (await call(kb, "ann", "ask", question=QUESTION))["thread"]
    await call(kb, "ann", "thread_settings", thread=thread, profile="strict", context="Legal", tags=["no"])
    kept = await call(kb, "ann", "ask", question=TARIFF, thread=thread)
    assert (kept["profile"], kept["tags"]) == ("strict", ["no"])
    assert (await call(kb, "ann", "ask", question=TARIFF))["tags"] == []
    explicit = await call(kb, "ann", "ask", question=TARIFF, thread=thread, profile="lenient")
    assert explicit["profile"] == "lenient"
    settings = (await call(kb, "ann", "thread_read", thread=thread))["settings"]
    everywhere = {"since": "", "fields": [], "documents": [], "effort": None}
    assert settings == {"profile": "strict", "context": "Legal", "tags": ["no"], **everywhere}
    with pytest.raises(NotFound):
        await call(kb, "ann", "thread_settings", thread=thread, context="Nowhere")
    with pytest.raises(NotFound):
        await call(kb, "bob", "thread_settings", thread=thread)


async def test_effort_is_kept_for_a_conversation_or_given_with_a_question(kb: KnowledgeBase) -> None:
    once = await call(kb, "ann", "ask", question=TARIFF, effort="thorough")
    assert once["effort"] == "thorough"
    assert any("needs a language model" in note for note in once["notes"])
    await call(kb, "ann", "thread_settings", thread=once["thread"], effort="quick")
    assert (await call(kb, "ann", "ask", question=TARIFF, thread=once["thread"]))["effort"] == "quick"
    switched = await call(kb, "ann", "ask", question=TARIFF, thread=once["thread"], switches={"effort": "normal"})
    assert switched["effort"] == "normal"


@pytest.mark.parametrize(("given", "effort"), [({}, "thorough"), ({"effort": "quick"}, "quick")])
@pytest.mark.parametrize("case", ["answer", "ask"])
async def test_a_choice_goes_on_with_the_effort_of_its_question(
    kb: KnowledgeBase, case: str, given: dict[str, Any], effort: str
) -> None:
    asked = await call(kb, "ann", "ask", question="What is a PUC?", effort="thorough")
    reply = {"choice" if case == "answer" else "question": "2"}
    chosen = await call(kb, "ann", case, thread=asked["thread"], **reply, **given)
    assert (chosen["turn"], chosen["effort"], chosen["question"]) == (0, effort, "What is a PUC?")
    later = await call(kb, "ann", "ask", question=TARIFF, thread=asked["thread"])
    assert later["effort"] == "normal"


async def test_a_question_keeps_its_effort_in_another_sense(kb: KnowledgeBase) -> None:
    asked = await call(kb, "ann", "ask", question="Which clean room does the PUC bonding step need?", effort="quick")
    given = {"thread": asked["thread"], "turn": 0, "term": "PUC"}
    sense = (await call(kb, "ann", "other_senses", **given))["senses"][0]["id"]
    assert (await call(kb, "ann", "ask_in_sense", sense=sense, **given))["effort"] == "quick"


async def test_a_question_may_lower_the_budgets_but_not_raise_them(kb: KnowledgeBase) -> None:
    lower = {"max_tool_calls": 2, "max_tool_tokens": 1000}
    assert (await call(kb, "ann", "ask", question=TARIFF, switches=lower))["status"] == "answered"
    for more in ({"max_tool_calls": 24}, {"max_tool_tokens": 400_000}):
        with pytest.raises(InvalidSettings, match="A question may lower it"):
            await call(kb, "ann", "ask", question=TARIFF, switches=more)


async def test_the_askers_context_settles_an_ambiguous_term(kb: KnowledgeBase) -> None:
    thread = (await call(kb, "ann", "ask", question=TARIFF))["thread"]
    await call(kb, "ann", "thread_settings", thread=thread, context="legal")
    asked = await call(kb, "ann", "ask", question="What is PUC?", thread=thread)
    assert (asked["status"], asked["jargon"][0]["context"]) == ("answered", "Legal")


# -- follow-up questions, and export ----------------------------------------------------------------------------------


async def test_suggested_follow_up_questions_are_answered_by_the_documents(kb: KnowledgeBase, tmp_path: Path) -> None:
    depot = DEPOT.replace("## Bicycle carriage", "## How to take a bicycle on a night train")
    depot = depot.replace("## Lost", "## Where is lost")  # has nothing to do with the question
    await put(kb, tmp_path / "put", "depot.md", depot.replace("lost property\n", "lost property?\n"))
    asked = await call(kb, "ann", "ask", question=NIGHT_TRAIN)
    offered = await call(kb, "ann", "thread_follow_ups", thread=asked["thread"])
    assert offered == ["How do I take a bicycle on a night train?"]
    for question in offered:
        asked = await call(kb, "ann", "ask", question=question, thread=asked["thread"])
        assert asked["status"] == "answered", question
    assert not set(offered) & set(await call(kb, "ann", "thread_follow_ups", thread=asked["thread"]))


async def test_a_heading_that_is_no_question_makes_no_follow_up_question(kb: KnowledgeBase, tmp_path: Path) -> None:
    await put(kb, tmp_path / "put", "depot.md", DEPOT)
    asked = await call(kb, "ann", "ask", question=NIGHT_TRAIN)
    assert await call(kb, "ann", "thread_follow_ups", thread=asked["thread"]) == []


async def test_a_suggested_question_about_a_term_is_in_the_language_of_the_question(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    nachtzug = "# Nachtzug\n\nWer im Nachtzug ein Fahrrad mitnimmt, legt den LFS vor.\n"
    nachtzug += "\n## Papiere\n\nLFS bedeutet Ladeschein. BD ist die Bahn.\n"
    await put(kb, tmp_path / "put", "nachtzug.md", nachtzug)
    kb.glossary.senses.add("LFS", "Legal", "Ladeschein")
    kb.glossary.senses.add("BD", "Legal", "Bahn")  # not in the answer
    asked = await call(kb, "ann", "ask", question="Was muss ich vorlegen, wenn ich im Nachtzug ein Fahrrad mitnehme?")
    assert await call(kb, "ann", "thread_follow_ups", thread=asked["thread"]) == ["Was bedeutet LFS?"]


async def test_no_follow_up_question_is_suggested_after_a_refusal(kb: KnowledgeBase, tmp_path: Path) -> None:
    await put(kb, tmp_path / "put", "depot.md", DEPOT.replace("## Bicycle carriage", "## How to take a bicycle"))
    asked = await call(kb, "ann", "ask", question="Who won the chess championship of 1972?")
    assert asked["status"] == "abstained"
    assert await call(kb, "ann", "thread_follow_ups", thread=asked["thread"]) == []


async def test_suggested_follow_up_questions_reveal_no_hidden_document(kb: KnowledgeBase, tmp_path: Path) -> None:
    secret = "# Word Line secrets\n\n## Word Line canary plan\n\nThe Word Line voltage of the canary is 9 V.\n"
    await put(kb, tmp_path / "put", "secret.md", secret, audience=["vault"])
    asked = await call(kb, "ann", "ask", question=QUESTION)
    assert "canary" not in str(await call(kb, "ann", "thread_follow_ups", thread=asked["thread"]))


async def test_a_conversation_is_exported_with_its_sources(kb: KnowledgeBase) -> None:
    thread = (await call(kb, "ann", "ask", question=QUESTION))["thread"]
    await call(kb, "ann", "thread_rename", thread=thread, title="Volts / ../<b>")
    file = await call(kb, "ann", "thread_export", thread=thread)
    assert (file["name"], file["media_type"]) == ("volts-b.md", "text/markdown")
    assert "4.5 V. [1]" in file["text"] and "- [1] nand-layout.md: NAND layout guide" in file["text"]
    assert "- **WL**: Word Line (NAND)" in file["text"]
    as_json = await call(kb, "ann", "thread_export", thread=thread, form="json")
    assert '"4.5 V"' not in as_json["text"] and "4.5 V" in as_json["text"] and as_json["name"].endswith(".json")
    with pytest.raises(NotFound):
        await call(kb, "bob", "thread_export", thread=thread)


# -- feedback as data -------------------------------------------------------------------------------------------------


async def test_feedback_is_kept_with_its_trace_and_read_by_managers_only(kb: KnowledgeBase) -> None:
    asked = await call(kb, "ann", "ask", question=QUESTION)
    await call(kb, "ann", "feedback", thread=asked["thread"], turn=0, value=-1, comment="which read?", share=True)
    await call(kb, "ann", "ask", question=TARIFF, thread=asked["thread"])
    (row,) = await call(kb, "mia", "feedback_list")
    assert (row["value"], row["comment"], row["question"]) == (-1, "which read?", QUESTION)
    assert row["profile"] == "default" and row["answered_by"] == "extractive" and row["timings"]["retrieve"] > 0
    assert row["gold"][0]["document"] == "nand-layout.md"
    assert row["gold"][0]["passage_id"] in row["passages"]
    assert "ann" not in str(row)
    with pytest.raises(NotAllowed):
        await call(kb, "ann", "feedback_list")
    await call(kb, "ann", "feedback", thread=asked["thread"], turn=0, value=0)
    assert await call(kb, "mia", "feedback_list") == []


async def test_unshared_words_are_not_shown_with_feedback(kb: KnowledgeBase) -> None:
    asked = await call(kb, "ann", "ask", question=QUESTION)
    await call(kb, "ann", "feedback", thread=asked["thread"], turn=0, value=1, comment="thanks")
    (row,) = await call(kb, "mia", "feedback_list")
    assert row["value"] == 1 and "voltage" not in str(row) and "thanks" not in str(row)


async def test_a_trace_shows_only_documents_its_reader_may_read(kb: KnowledgeBase) -> None:
    kb.people.add("vic", ("vault",))
    asked = await call(kb, "vic", "ask", question="How often is the vault combination rotated?")
    assert "14 days" in asked["answer"]
    await call(kb, "vic", "feedback", thread=asked["thread"], turn=0, value=1, share=True)
    (row,) = await call(kb, "mia", "feedback_list")
    assert "14 days" not in str(row)  # mia is a manager, but not in the group
    (row,) = await call(kb, kb.principal(None), "feedback_list")
    assert "14 days" in row["answer"]


# -- files of one conversation ----------------------------------------------------------------------------------------

NOTE = b"# Tender\n\n## Aardwolf tender\n\nThe aardwolf tender closes on 17 March at noon.\n"
ASKED = "When does the aardwolf tender close?"


async def attached(kb: KnowledgeBase, name: str = "tender.md", data: bytes = NOTE) -> str:
    thread: str = (await (await kb.threads()).start("ann", "Tender")).id
    await call(kb, "ann", "thread_attach", thread=thread, name=name, content=base64.b64encode(data).decode())
    return thread


async def test_an_attached_file_is_used_in_its_conversation_only(kb: KnowledgeBase) -> None:
    thread = await attached(kb)
    asked = await call(kb, "ann", "ask", question=ASKED, thread=thread)
    assert "17 March" in asked["answer"]
    passage = asked["sentences"][0]["citations"][0]["passage_id"]
    assert "17 March" in (await call(kb, "ann", "read_passage", passage_id=passage))["text"]
    assert [one["name"] for one in (await call(kb, "ann", "thread_read", thread=thread))["files"]] == ["tender.md"]
    for who in ("ann", "bob", "mia", kb.principal(None)):  # also those who may read everything else
        elsewhere = await call(kb, who, "ask", question=ASKED)
        assert "17 March" not in str(elsewhere)
        assert "tender.md" not in str(await call(kb, who, "list_documents"))
    for who in ("bob", "mia", kb.principal(None)):
        with pytest.raises(NotFound):
            await call(kb, who, "read_passage", passage_id=passage)
        with pytest.raises(NotFound):
            await call(kb, who, "thread_attach", thread=thread, name="x.md", content="eA==")


async def test_an_attached_file_is_deleted_with_its_conversation(kb: KnowledgeBase) -> None:
    thread = await attached(kb)
    count = "SELECT count(*) FROM passages WHERE document IN (SELECT id FROM documents WHERE uri LIKE 'thread:%')"
    connection = kb.document_store.database.connection()
    assert connection.execute(count).fetchone()[0] > 0
    await call(kb, "ann", "thread_delete", thread=thread)
    assert connection.execute(count).fetchone()[0] == 0
    assert connection.execute("SELECT count(*) FROM documents WHERE uri LIKE 'thread:%'").fetchone()[0] == 0


async def test_an_attached_file_can_be_removed(kb: KnowledgeBase) -> None:
    thread = await attached(kb)
    await call(kb, "ann", "thread_detach", thread=thread, name="tender.md")
    assert "17 March" not in str(await call(kb, "ann", "ask", question=ASKED, thread=thread))
    assert await call(kb, "ann", "thread_files", thread=thread) == []


@pytest.mark.parametrize("name", ["../../etc/passwd.md", "C:\\temp\\x.md", "a\x00b.md", "/abs.md", f"{'x' * 900}.md"])
async def test_an_attached_files_name_cannot_be_a_path(kb: KnowledgeBase, tmp_path: Path, name: str) -> None:
    before = _beside_the_base(tmp_path)
    thread = await attached(kb, name)
    (file,) = await call(kb, "ann", "thread_files", thread=thread)
    assert "/" not in file["name"] and "\\" not in file["name"] and "\x00" not in file["name"]
    assert len(file["name"]) <= 200 and file["name"].endswith(".md")
    assert _beside_the_base(tmp_path) == before


def _beside_the_base(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "kb" not in path.parts}


@pytest.mark.parametrize(("name", "data", "said"), [("x.exe", b"MZ", "x.exe"), ("x.pdf", b"not a pdf", "x.pdf")])
async def test_an_unreadable_attachment_is_refused_with_the_reason(
    kb: KnowledgeBase, name: str, data: bytes, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        await attached(kb, name, data)
    assert await (await kb.threads()).list_with_files("ann") == []


# -- very long conversations -------------------------------------------------------------------------------------------


async def test_turns_keep_their_numbers_when_older_ones_are_dropped(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.graph.checkpoints.thread_history.MAX_TURNS", 2)
    thread = (await call(kb, "ann", "ask", question=QUESTION))["thread"]
    for number in (1, 2, 3, 4):
        asked = await call(kb, "ann", "ask", question=TARIFF if number == 3 else QUESTION, thread=thread)
        assert asked["turn"] == number
        await call(kb, "ann", "feedback", thread=thread, turn=number, value=1, comment=f"number {number}")
    read = await call(kb, "ann", "thread_read", thread=thread)
    assert [(one["turn"], one["question"]) for one in read["turns"]] == [(2, QUESTION), (3, TARIFF), (4, QUESTION)]
    assert [(one["turn"], one["comment"]) for one in read["feedback"]][-2:] == [(3, "number 3"), (4, "number 4")]
    exported = await call(kb, "ann", "thread_export", thread=thread)
    assert "2 earlier questions are no longer kept." in exported["text"]
    offer = await call(kb, "ann", "other_senses", thread=thread, turn=2, term="WL")
    assert offer["question"] == QUESTION
    with pytest.raises(NotFound):
        await call(kb, "ann", "other_senses", thread=thread, turn=3, term="WL")
    again = await call(kb, "ann", "ask_again", thread=thread)
    assert (again["turn"], again["question"]) == (4, QUESTION)
    read = await call(kb, "ann", "thread_read", thread=thread)
    assert [one["turn"] for one in read["turns"]] == [2, 3, 4]
    assert 4 not in [one["turn"] for one in read["feedback"]]


async def test_an_answer_that_does_not_exist_cannot_be_rated(kb: KnowledgeBase) -> None:
    thread = (await call(kb, "ann", "ask", question=QUESTION))["thread"]
    with pytest.raises(NotFound, match="no answer number 7"):
        await call(kb, "ann", "feedback", thread=thread, turn=7, value=-1)
    assert (await call(kb, "ann", "thread_read", thread=thread))["feedback"] == []


# -- pages as images --------------------------------------------------------------------------------------------------


async def test_the_page_of_a_pdf_is_drawn_with_the_cited_sentence_marked(kb: KnowledgeBase, tmp_path: Path) -> None:
    from PIL import Image

    await put(
        kb,
        tmp_path / "put",
        "depot.pdf",
        pdf("The numbat of the depot leaves at midnight.", "The quokka stays for the winter."),
        audience=["vault"],
    )
    kb.people.add("vic", ("vault",))
    asked = await call(kb, "vic", "ask", question="When does the numbat of the depot leave?")
    (cited, *_) = asked["sentences"][0]["citations"]
    where = {"passage_id": cited["passage_id"], "spans": [list(cited["span"])]}
    drawn = await call(kb, "vic", "page_picture", **where)
    picture = Image.open(io.BytesIO(base64.b64decode(drawn["base64"]))).convert("RGB")
    assert drawn["page"] == 1 and picture.width <= 1400
    yellow = sum(1 for r, g, b in picture.getdata() if r > 230 and g > 180 and b < 180)
    assert yellow > 500
    for who in ("ann", "mia"):
        with pytest.raises(NotFound):
            await call(kb, who, "page_picture", **where)


async def test_only_pages_of_pdfs_are_drawn(kb: KnowledgeBase) -> None:
    asked = await call(kb, "ann", "ask", question=QUESTION)
    with pytest.raises(NotFound, match="Only pages of PDF"):
        await call(kb, "ann", "page_picture", passage_id=asked["passages"][0]["passage_id"])


def test_a_file_that_cannot_be_drawn_is_refused_with_the_reason() -> None:
    from argot.service.page_images import PageRequest, draw

    for data, page in (
        (b"%PDF-1.4 broken", 1),
        (pdf("The numbat of the depot leaves at midnight.", "The quokka stays for the winter."), 99),
    ):
        with pytest.raises(NotFound, match="cannot be drawn"):
            draw(data, PageRequest(page))


def test_the_process_that_draws_pages_is_given_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    from argot.service.page_images import PageRequest, draw

    given: list[dict[str, str]] = []
    started = subprocess.Popen

    def start(*command: Any, env: dict[str, str], **options: Any) -> Any:
        given.append(env)
        return started(*command, env=env, **options)

    monkeypatch.setenv("ARGOT_MODEL_KEY", "secret")
    monkeypatch.setattr(subprocess, "Popen", start)
    assert draw(pdf("The numbat of the depot leaves at midnight."), PageRequest(1)).page == 1
    assert "PATH" in given[0] and "secret" not in given[0].values()


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_cited_sentence_is_marked_on_a_rotated_page(turn: int) -> None:
    from PIL import Image
    from reportlab.pdfgen.canvas import Canvas

    from argot.service.page_images import MARGIN, PageRequest, draw

    sentence, out = "The quokka stays for the winter.", io.BytesIO()
    canvas = Canvas(out, (500, 500))
    canvas.setPageRotation(turn)
    canvas.setFont("Helvetica", 14)
    canvas.drawString(40, 400, sentence)
    canvas.save()
    picture = Image.open(io.BytesIO(draw(out.getvalue(), PageRequest(1, (), (sentence,))).png)).convert("RGB")
    marked = [place for place in range(picture.width * picture.height) if _is_marked(picture, place)]
    # Only the line is printed and the image is cut to it, so the mark covers most of it.
    inside = (picture.width - 2 * MARGIN) * (picture.height - 2 * MARGIN)
    assert len(marked) > 0.6 * inside
    assert (picture.height > picture.width) == (turn in (90, 270))


def _is_marked(picture: Any, place: int) -> bool:
    red, green, blue = picture.getpixel((place % picture.width, place // picture.width))
    return bool(red > 230 and green > 180 and blue < 180)

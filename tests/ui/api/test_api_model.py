"""Tests of the API with a streaming language model: what is streamed, what is withdrawn, and inactive markup."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from api_site import Site

from argot.results import AskResult, Citation, FoundPassage, Jargon, Sentence
from argot.service.knowledge_base import KnowledgeBase
from argot.ui.api.streamed_text import StreamedText
from argot.ui.rendering.message_markdown import TAKEN_BACK, format_message, strip_footnotes

QUESTION = "How do I trim a drive?"
TRUE = "To trim a drive, open the Media panel and click on Trim [1]."


@pytest_asyncio.fixture
async def site(tiny_home: Path, tmp_path: Path, scripted_model: Any) -> AsyncIterator[Site]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, scripted_model.settings(home=home)) as kb:
        kb.people.add("ann")
        yield Site(kb)


async def streamed(site: Site, model: str = "argot") -> tuple[list[str], dict[str, Any]]:
    """Return the pieces of the text, and the metadata."""
    given = {"model": model, "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    async with site.program() as ann:
        answer = await ann.post("/v1/chat/completions", json=given)
    assert answer.status_code == 200
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    deltas = [json.loads(line)["choices"][0]["delta"] for line in lines[:-1]]
    return [delta["content"] for delta in deltas if delta.get("content")], deltas[-1]["argot"]


async def test_words_are_streamed_without_citation_marks_and_sources_follow(
    site: Site, scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "argot.tools.llm.model_client.MAX_UNGATHERED_READS", 1000
    )  # without this, all tokens of so fast a server arrive as one piece
    monkeypatch.setattr("argot.graph.node_frame.GATHER_SECONDS", 0)
    scripted_model.reply("cited_answer", f"{TRUE} The moon is made of green cheese and shines at night [2].")
    pieces, found = await streamed(site)
    text = "".join(pieces)
    assert found["answered_by"] == "model" and len(pieces) > 2  # a server this fast sends many tokens in one piece
    body = text.split("\n\n---\n\n")[0]
    assert "click on Trim." in body and "[" not in body
    assert "- [1] drive-tool.md · Drive tool manual > Trimming a drive: sentence 1" in text
    assert "No passage supports sentence 2." in text and TAKEN_BACK not in text
    assert strip_footnotes(text).startswith("To trim a drive")


async def test_an_answer_that_breaks_off_is_withdrawn(site: Site, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", f"{TRUE} " * 5)
    scripted_model.fault("cut", prompt="cited_answer", tokens=8)
    pieces, found = await streamed(site)
    text = "".join(pieces)
    assert found["answered_by"] == "extractive"
    assert TAKEN_BACK in text
    kept = text.rpartition(TAKEN_BACK)[2]
    assert "click on Trim." in kept and ": sentence" in kept and "quotes the documents instead" in kept
    assert strip_footnotes(text) == strip_footnotes(kept)


async def test_the_strict_profile_streams_only_checked_sentences(site: Site, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", f"{TRUE} The moon is made of green cheese and shines at night [2].")
    text = "".join((await streamed(site, "argot-strict"))[0])
    assert "click on Trim" in text and "cheese" not in text and TAKEN_BACK not in text


async def test_images_links_and_html_of_a_model_are_inactive(site: Site, scripted_model: Any) -> None:
    """Check scorecard 5 for the API: whoever displays the text loads nothing because of it."""
    evil = (
        f"{TRUE} ![x](https://evil.example/a.png) [more](https://evil.example) ![y][z] <img src=https://evil.example/b>"
        " <script>alert(1)</script>\n\n[z]: https://evil.example/c.png"
    )
    scripted_model.reply("cited_answer", evil)
    given = {"messages": [{"role": "user", "content": QUESTION}]}
    async with site.program() as ann:
        whole = (await ann.post("/v1/chat/completions", json=given)).json()["choices"][0]["message"]["content"]
    for text in ("".join((await streamed(site))[0]), whole):
        for active in ("](http", "][z", "]: http", "<img", "<script", "</script"):
            assert active not in text, active


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/ask"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_disconnects_stops_the_model(
    site: Site, scripted_model: Any, path: str, stream: bool
) -> None:
    scripted_model.fault("hang", prompt="cited_answer")
    given: Any = {"messages": [{"role": "user", "content": QUESTION}], "stream": stream}
    more = {"Accept": "text/event-stream"} if stream else {}
    if path == "/api/ask":
        given = {"question": QUESTION}

    async with site.program("ann", **more) as ann:
        asking = asyncio.create_task(ann.post(path, json=given))
        asked = lambda: bool(scripted_model.asked("cited_answer"))  # noqa: E731
        assert await asyncio.to_thread(scripted_model.wait_until, asked, 30)
        key = site.kb.people.keys.of("ann")[0]
        site.kb.people.keys.revoke(key.id)  # has the effect of a disconnecting client
        await asyncio.gather(asking, return_exceptions=True)
    held = scripted_model.asked("cited_answer")[-1]
    assert await asyncio.to_thread(scripted_model.wait_until, lambda: held.gone, 30)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_citation_marks_are_removed_wherever_a_piece_ends(size: int) -> None:
    text = "One thing [1]. Two things [12], [3] and a[i] more [?]. ![x](y) end [4]"
    stream = StreamedText("", live=True)
    sent = "".join(stream.token(text[start : start + size]) for start in range(0, len(text), size))
    result = AskResult(question="?", stand_alone_question="?", status="abstained", thread="", answer="x")
    assert sent == "One thing. Two things, and a[i] more. ![x]\u2060(y) end"
    assert "".join(stream.finish(result)) == f"{TAKEN_BACK}x"


def test_names_are_escaped_and_links_lead_to_argots_own_site() -> None:
    named: Any = {"n": 1, "document": "[x](http://e)<b>`.pdf", "page": 3, "heading": "![h](u)", "passage_id": "p/1?"}
    passage = FoundPassage(**named, uri="", text="", score=1.0)
    citation = Citation(**named, revision="r", span=(0, 9), score=1.0)
    result = AskResult(
        question="?", stand_alone_question="?", status="answered", thread="", answer="It is so.",
        sentences=[Sentence(text="It is so.", supported=True, citations=[citation])], passages=[passage],
        jargon=[Jargon(surface="[T]", expansion="<u>", context="", term="T")], notes=["<i>n</i>"],
    )  # fmt: skip
    text = format_message(result, "https://argot.example.com")
    assert "[(x)(http://e)‹b>'.pdf, page 3](https://argot.example.com/argot/passages/p%2F1%3F) · !(h)(u)" in text
    assert "<" not in text and "- (T): ‹u>" in text
    assert strip_footnotes(text) == "It is so."


def test_an_excerpt_is_escaped_and_removed_with_the_footnotes() -> None:
    named: Any = {"n": 1, "document": "a.md", "page": None, "heading": "", "passage_id": "p1", "uri": "", "text": ""}
    passage = FoundPassage(**named, score=1.0, excerpt="As [2] *says*: <b>`x`</b> ![p](http://e.example/x)")
    result = AskResult(
        question="?",
        stand_alone_question="?",
        status="abstained",
        thread="",
        answer="No.\n[1] a.md",
        passages=[passage],
    )
    text = format_message(result)
    assert "- [1] a.md\n  “As (2) ∗says∗: ‹b>'x'‹/b> !(p)(http:\u2060//e.example/x)”" in text
    assert strip_footnotes(text) == "No."

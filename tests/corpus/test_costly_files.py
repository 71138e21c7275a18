"""Files that cost much for few bytes: read within limits, or refused with the limit, its setting and a remedy."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cutting import cut_passages

from argot.corpus.chunking import blocks
from argot.corpus.corpus import Corpus, Source
from argot.corpus.readers import ReadLimits
from argot.corpus.readers.reader_process import _HOSTS, MAX_SMALL_BYTES, read_in_child
from argot.corpus.readers.reader_protocol import CutDocument
from argot.corpus.readers.reader_worker import NICE_VALUE
from argot.errors import UnreadableDocument
from argot.settings import Settings
from argot.subprocesses import Child
from argot.types import ParsedDocument, Principal, Triple

ROOT = Principal("root", sees_all=True)


def read(data: bytes, name: str = "a.md", **limits: Any) -> CutDocument:
    return read_in_child(data, name, ReadLimits(**limits), 1200)


def refusal(data: bytes, name: str = "a.md", **limits: Any) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as refused:
        read(data, name, **limits)
    return refused.value


# -- the bounds of the process ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_text_file_that_needs_too_much_memory_is_refused(name: str) -> None:
    error = refusal(b"# h\n" * 100_000, name, memory_mb=16, max_passages=1_000_000)
    assert "16 MB of memory" in error.reason
    assert "ARGOT_PARSE_MEMORY_MB" in error.remedy
    assert read(b"# Next\n\nText.\n", name).markdown == "# Next\n\nText.\n"


@pytest.mark.parametrize("unit", [b"a\n", b"\n", b"> a\n", b"|a|b|\n", b"```\n"])
def test_memory_does_not_grow_with_the_number_of_lines(unit: bytes) -> None:
    """Check the slicing: parsed at once, such lines take a hundred bytes and more of memory per byte."""
    data = b"# Top\n\nText.\n\n" + unit * (1_000_000 // len(unit))
    assert read(data, memory_mb=56, seconds=600, max_passages=1_000_000).cuts


def test_a_text_file_that_needs_too_much_time_is_refused() -> None:
    error = refusal(b"- a\n" * 500_000, seconds=0.3, max_passages=1_000_000)
    assert "0.3 seconds" in error.reason
    assert "ARGOT_PARSE_SECONDS" in error.remedy


def test_the_reading_process_has_low_priority() -> None:
    read(b"text")
    process = _HOSTS["documents"].child.process
    assert process
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == NICE_VALUE


def test_each_lane_has_its_own_reading_process() -> None:
    """Check that an asker's slow file delays neither a manager nor anyone with a small file."""
    read(b"text")
    read(b"text\n" * MAX_SMALL_BYTES, lane="attachments")
    documents, attachments = (_HOSTS[lane].child.process for lane in ("documents", "attachments"))
    assert documents and attachments and documents.pid != attachments.pid
    with _HOSTS["attachments"].lock:
        assert read(b"text").markdown == "text"
        assert read(b"text", lane="attachments").markdown == "text"


def test_a_reading_process_that_used_much_memory_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argot.corpus.readers.reader_process._MAX_KEPT_BYTES", 1)
    read(b"text")
    assert _HOSTS["documents"].child.process is None


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (signal.SIGSEGV, "damaged: its reader crashed (exit code -11)"),
        (signal.SIGKILL, "took more than 2048 MB of memory to read"),
        (signal.SIGPROF, "took longer than 60 seconds to read"),
    ],
)
def test_the_error_of_a_file_says_how_the_reading_process_ended(
    end: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(b"text")
    process, receive = _HOSTS["documents"].child.process, Child.receive
    assert process

    def ended(child: Child, most: int | None = None) -> tuple[bytes, bytes]:
        os.kill(process.pid, end)
        os.kill(process.pid, signal.SIGCONT)
        return receive(child, most)

    os.kill(process.pid, signal.SIGSTOP)  # it must not answer first
    with monkeypatch.context() as patched:
        patched.setattr(Child, "receive", ended)
        assert refusal(b"text").reason == said
    assert read(b"text").markdown == "text"


def test_the_answer_of_the_reading_process_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReadLimits, "max_answer_bytes", 1000)
    error = refusal(b"Some text. " * 200)
    assert "1,000 bytes" in error.reason
    assert "ARGOT_MAX_TEXT_CHARS" in error.remedy
    assert read(b"text").markdown == "text"


# -- how many passages, headings and windows ------------------------------------------------------------------------


def test_more_passages_than_allowed_are_refused() -> None:
    text = b"# Heading\n\n" + b"word " * 300
    assert len(read(text * 3, max_passages=6).cuts) == 6
    error = refusal(text * 4, max_passages=6)
    assert "more than 6 passages" in error.reason
    assert error.remedy == "Set ARGOT_MAX_PASSAGES to allow more, or split the file."


@pytest.mark.parametrize("unit", [b"# h\n", b"# h\n\n", b"h\n-\n", b"a\n\n", b"***\n", b"<x>\n\n"])
def test_too_many_headings_and_paragraphs_are_refused(unit: bytes) -> None:
    error = refusal(unit * 3000, max_passages=100)
    assert "more than 2,000 headings, paragraphs, lists and tables" in error.reason
    assert "ARGOT_MAX_PASSAGES" in error.remedy


def test_too_many_lines_are_refused_before_parsing() -> None:
    error = refusal(b"x" + b"\n" * 10_000_000, max_passages=100)
    assert "more than 10,000 lines" in error.reason
    assert "ARGOT_MAX_PASSAGES" in error.remedy


@pytest.mark.parametrize("element", [b"<p>a", b"<b>", b"<tr><td>", b"<dt>a<dd>b"])
def test_a_page_with_too_many_elements_is_refused_before_parsing(element: bytes) -> None:
    error = refusal(element * 100_000, "a.html", seconds=1)
    assert "HTML elements" in error.reason
    assert "ARGOT_PARSE_SECONDS" in error.remedy


def test_a_refused_attachment_tells_the_asker_what_to_do() -> None:
    limits = ReadLimits.of_attachments(Settings(max_attachment_passages=2))
    with pytest.raises(UnreadableDocument, match="more than 2 passages") as refused:
        read_in_child(b"Some words. " * 1000, "a.txt", limits, 1200)
    assert "Split it, or have it put among the documents" in refused.value.remedy
    assert "ARGOT_MAX_ATTACHMENT_PASSAGES" in refused.value.remedy


def test_attachments_have_no_higher_limits_than_documents() -> None:
    settings = Settings(max_passages=5, parse_seconds=2, parse_memory_mb=300)
    of_documents, of_attachments = ReadLimits.from_settings(settings), ReadLimits.of_attachments(settings)
    for name in ("max_bytes", "max_text_chars", "seconds", "memory_mb", "max_passages"):
        assert getattr(of_attachments, name) <= getattr(of_documents, name)
    assert ReadLimits.of_attachments(Settings()).max_passages < ReadLimits.from_settings(Settings()).max_passages


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1, max_passages=3))
    yield opened
    opened.close()


class Talkative:
    name = "talkative"

    async def triples(self, passages: Any) -> list[Triple]:
        return [Triple("", "menu", "edit", f"image {n}", one.id) for one in passages for n in range(20)]

    async def derived_texts(self, passages: Any) -> list[Any]:
        return []


@pytest.mark.parametrize(("text", "deriver"), [("Words.", Talkative()), ("漢" * 3600, None)])
def test_more_texts_to_embed_than_allowed_are_refused(corpus: Corpus, text: str, deriver: Any) -> None:
    """Check the limit on texts: a few passages can have many triples or windows."""
    source = Source("test:///a.txt", "a.txt", text.encode)
    event = list(corpus.add([source], deriver=deriver))[1]
    assert event.kind == "failed"
    assert "more than 12 pieces of text" in event.detail
    assert "ARGOT_MAX_PASSAGES" in event.detail
    assert corpus.store.documents(ROOT) == []


def test_a_very_long_title_is_shortened() -> None:
    assert len(read(b"---\ntitle: " + b"x" * 1_000_000 + b"\n---\n\nText.\n").title) == 300


# -- cut in pieces, and nothing lost --------------------------------------------------------------------------------


def passages(markdown: str) -> Any:
    parsed = ParsedDocument("T", markdown, "text/markdown")
    return cut_passages(parsed, document_id="d", revision_id="r", max_chars=300)


def test_a_table_longer_than_a_slice_keeps_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SLICE_CHARS", 500)
    table = "| part | limit |\n|---|---|\n" + "| valve | 5 bar |\n" * 200
    found = passages(f"# Top\n\n{table}\nText behind it.\n")
    assert all("| part | limit |" in one.header for one in found[1:-1])
    assert found[-1].text.endswith("Text behind it.")


def test_code_longer_than_a_slice_stays_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SLICE_CHARS", 500)
    code = "```\n" + "# no heading\n\n" * 200 + "```\n"
    found = passages(f"# Top\n\n{code}\n## Below\n\nText behind it.\n")
    assert {one.heading_path for one in found} == {("Top",), ("Top", "Below")}


def test_an_unclosed_code_block_reaches_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SLICE_CHARS", 500)
    markdown = "# Top\n\n```\n" + "# no heading\n\n" * 200
    found = passages(markdown)
    assert {one.heading_path for one in found} == {("Top",)}
    assert found[-1].end == len(markdown.rstrip())

"""Tests of the check of a text as a whole: places in the file, who sees what, surfaces, formats and bad files."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from desk import CSRF, at_desk

from argot.errors import InvalidInput, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary import text_checks
from argot.service.usecases.glossary.text_checks import TextCheck, terms_check
from argot.settings import Settings
from argot.types import Label, Principal
from argot.ui.pages.text_check_pages import build_text_check_pages
from argot.ui.rendering.sarif import build_sarif

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANN = Principal("ann")
VERA = Principal("vera", frozenset({"vault"}))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("check") / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        add = opened.glossary.senses.add
        add("DGX", "NAND", "digital gauge", labels=(Label("meter box", "forbidden"),))
        add("KKX", "Tools", "kept key", labels=(Label("iron key", "forbidden"),), audience=frozenset({"vault"}))
        yield opened


async def check(kb: KnowledgeBase, text: str | bytes, name: str = "text.md", who: Principal = ANN) -> TextCheck:
    data = text if isinstance(text, bytes) else text.encode()
    return await terms_check(kb, who, name=name, data=data)


async def test_findings_have_line_and_column_of_the_file_despite_front_matter_and_markup(kb: KnowledgeBase) -> None:
    text = "---\r\ntitle: Gauges\r\n---\r\n# Gauges\r\n\r\n<p>Old <b>text</b></p>\r\n\r\nThe meter box hangs here.\r\n"
    [one] = (await check(kb, text)).findings
    assert (one.line, one.column, one.end_line, one.end_column) == (8, 5, 8, 14)
    assert (one.kind, one.level, one.text, one.heading) == ("forbidden-name", "error", "meter box", "Gauges")
    assert one.remedy == "Say “digital gauge”." and one.before == "The " and one.after.startswith(" hangs")
    [found] = (await check(kb, "<html><body><h1>A</h1>\n<p>The\nmeter box</p></body></html>", "page.html")).findings
    assert (found.line, found.column) == (3, 1)


async def test_a_restricted_term_is_no_hint(kb: KnowledgeBase) -> None:
    text = "The KKX and the iron key."
    mine = (await check(kb, text, who=VERA)).findings
    assert [one.kind for one in mine] == ["forbidden-name"] and "kept key" in mine[0].remedy
    others = (await check(kb, text)).findings
    unknown = (await check(kb, text.replace("KKX", "QQX").replace("iron key", "iron bar"))).findings
    assert [one.kind for one in others] == [one.kind for one in unknown] == ["undefined-abbreviation"]
    assert others[0].remedy.replace("KKX", "QQX") == unknown[0].remedy


async def test_only_the_meanings_of_the_given_contexts_count(kb: KnowledgeBase) -> None:
    data = b"The DGX and the meter box."
    assert [one.kind for one in (await terms_check(kb, ANN, name="a.md", data=data)).findings] == ["forbidden-name"]
    other = await terms_check(kb, ANN, name="a.md", data=data, contexts=["legal"])
    assert [one.kind for one in other.findings] == ["undefined-abbreviation"]
    with pytest.raises(NotFound, match="no context 'Moon'"):
        await terms_check(kb, ANN, name="a.md", data=data, contexts=["Moon"])


async def test_nothing_of_a_text_is_stored(kb: KnowledgeBase) -> None:
    await check(kb, "The quillwortish meter box is quillwortish.")
    files = [path for path in kb.home.rglob("*") if path.is_file()]
    assert files and not [path for path in files if b"quillwortish" in path.read_bytes()]


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"", "a.md", "empty"),
        (b"\x7fELF" + bytes(range(256)) * 20, "a.md", "binary"),
        (b"text", "a.xyz", "unknown format"),
        (b"%PDF-1.7 broken", "a.pdf", "a.pdf"),
    ],
)
async def test_a_file_that_cannot_be_checked_is_refused_with_the_reason(
    kb: KnowledgeBase, data: bytes, name: str, why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        await check(kb, data, name)


async def test_further_findings_are_counted(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_checks, "MAX_FINDINGS", 2)
    found = await check(kb, "A meter box.\n\n" * 5)
    assert (len(found.findings), found.left_out) == (2, 3)


async def test_a_text_that_is_too_long_is_refused(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_checks, "MAX_CHECKED_CHARS", 10)
    with pytest.raises(InvalidInput, match=r"at most 10 can be checked at once\. Split it"):
        await check(kb, "A meter box.\n\n" * 5)


async def test_sarif_has_rules_results_and_the_files_that_failed(kb: KnowledgeBase) -> None:
    found = await check(kb, "A meter box.\n\nThe ZQV.")
    log = json.loads(json.dumps(build_sarif({"docs/a b.md": found}, {"c.md": "c.md: empty"})))
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert log["version"] == "2.1.0" and run["columnKind"] == "unicodeCodePoints"
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("forbidden-name", "error"), ("undefined-abbreviation", "warning"),
    ]  # fmt: skip
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    place = run["results"][1]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "docs/a%20b.md"
    assert place["region"]["startLine"] == 3 and place["region"]["startColumn"] == 5
    assert run["invocations"][0]["executionSuccessful"] is False


async def test_the_page_shows_findings_as_text_and_keeps_what_was_typed(kb: KnowledgeBase) -> None:
    async with at_desk(build_text_check_pages(kb), ANN) as ann:
        assert "Check a text" in (await ann.get("/terms/check")).text
        typed = "<script>alert(1)</script> The meter box."
        shown = await ann.post("/terms/check", data={"text": typed, "csrf": CSRF}, files={"file": ("", b"")})
        assert "<mark>meter box</mark>" in shown.text and "line 1, column 31" in shown.text
        assert "<script>alert" not in shown.text and "&lt;script&gt;alert(1)" in shown.text
        nothing = await ann.post("/terms/check", data={"text": " ", "csrf": CSRF}, files={"file": ("", b"")})
        assert nothing.status_code == 400 and "There is no text" in nothing.text

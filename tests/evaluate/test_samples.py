"""Tests of the sample knowledge base: questions, quotes, senses and documents are consistent."""

from __future__ import annotations

import csv
import functools
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

docx = pytest.importorskip("docx")
openpyxl = pytest.importorskip("openpyxl")
pptx = pytest.importorskip("pptx")
pypdfium2 = pytest.importorskip("pypdfium2")

SAMPLES = ROOT / "samples"
DOCUMENTS = SAMPLES / "documents"
FEWEST = {
    "plain": 18,
    "abbreviated": 34,
    "ambiguous": 28,
    "tied": 10,
    "misspelt": 12,
    "unknown_term": 10,
    "unanswerable": 12,
    "capitals": 10,
    "multiple_choice": 60,
}
EXPECTED = {"tied": "needs_choice", "unknown_term": "query_miss", "unanswerable": "abstained"}
FIELDS = {
    "id", "split", "kind", "question", "asker_context", "expected", "senses", "unknown_terms", "gold", "answer",
    "options", "correct",
}  # fmt: skip


def squeeze(text: str) -> str:
    """Collapse white space before quotes are compared."""
    return " ".join(text.split())


def read_rows(name: str) -> list[dict[str, str]]:
    with (SAMPLES / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@functools.cache
def questions() -> list[dict[str, Any]]:
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def documents() -> list[str]:
    return sorted(str(path.relative_to(DOCUMENTS)) for path in DOCUMENTS.glob("*/*"))


def pdf_parts(path: Path) -> Iterable[str]:
    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            yield page.get_textpage().get_text_range()


def docx_parts(path: Path) -> Iterable[str]:
    document = docx.Document(str(path))
    yield from (paragraph.text for paragraph in document.paragraphs)
    yield from (cell.text for table in document.tables for row in table.rows for cell in row.cells)


def pptx_parts(path: Path) -> Iterable[str]:
    for slide in pptx.Presentation(str(path)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
            if shape.has_table:
                yield from (cell.text for row in shape.table.rows for cell in row.cells)


def xlsx_parts(path: Path) -> Iterable[str]:
    for sheet in openpyxl.load_workbook(path, read_only=True).worksheets:
        yield sheet.title
        for row in sheet.iter_rows(values_only=True):
            yield from (str(value) for value in row if value is not None)


def plain_parts(path: Path) -> Iterable[str]:
    text = path.read_text(encoding="utf-8")
    yield html.unescape(re.sub(r"<[^>]+>", " ", text)) if path.suffix == ".html" else text


PARTS = {".pdf": pdf_parts, ".docx": docx_parts, ".pptx": pptx_parts, ".xlsx": xlsx_parts}


@functools.cache
def text_of(name: str) -> str:
    path = DOCUMENTS / name
    return squeeze(" \n ".join(PARTS.get(path.suffix, plain_parts)(path)))


def stands_in(term: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text) is not None


def folder(context: str) -> str:
    """Return the folder of a context, by the first word of its name."""
    first = context.split(maxsplit=1)[0].lower()
    return next(path.name for path in DOCUMENTS.iterdir() if path.name.split("-")[0] == first)


def test_documents_cover_contexts_and_formats() -> None:
    names = documents()
    formats = Counter(Path(name).suffix for name in names)
    assert len(names) >= 28
    assert all(formats[suffix] >= 1 for suffix in (".md", ".txt", ".html", ".rst", ".csv"))
    assert formats[".pdf"] >= 3 and formats[".docx"] >= 3 and formats[".pptx"] >= 3 and formats[".xlsx"] >= 2
    assert {name.split("/")[0] for name in names} == {folder(row["name"]) for row in read_rows("contexts.csv")}
    assert all(name == name.lower() and " " not in name and "_" not in name for name in names)


def test_documents_are_substantial() -> None:
    tables = (".csv", ".xlsx")
    short = [name for name in documents() if not name.endswith(tables) and len(text_of(name).split()) < 400]
    assert short == []
    for name in documents():
        if name.endswith(".pdf"):
            assert len(list(pdf_parts(DOCUMENTS / name))) >= 2, name


def test_office_files_hold_the_text_of_their_sources() -> None:
    for source in (SAMPLES / "office").glob("*/*.md"):
        built = text_of(f"{source.parent.name}/{source.stem}")
        for line in source.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("|"):
                text = squeeze(re.sub(r"^(#+|-|\d+\.)\s+", "", line))
                assert text in built, f"{source.stem} is older than its source: run samples/make_office.py ({text})"


def test_glossary_has_senses_in_known_contexts() -> None:
    rows = read_rows("glossary.csv")
    assert list(rows[0]) == ["term", "context", "expansion", "description", "notes", "aliases", "owner"]
    contexts = {row["name"] for row in read_rows("contexts.csv")}
    assert {row["context"] for row in rows} == contexts
    assert len({(row["term"], row["context"]) for row in rows}) == len(rows) >= 90
    assert sum(count > 1 for count in Counter(row["term"] for row in rows).values()) >= 24
    assert all(row["expansion"] and row["description"] for row in rows)
    assert all(row["owner"].endswith("@example.com") for row in rows)


def test_every_expansion_is_used_in_some_document() -> None:
    everything = " ".join(text_of(name) for name in documents()).lower()
    for row in read_rows("glossary.csv"):
        used = row["expansion"].lower() in everything or stands_in(row["term"].lower(), everything)
        assert used, f"no document speaks of {row['term']}"


def test_questions_keep_the_schema() -> None:
    contexts = {row["name"] for row in read_rows("contexts.csv")}
    assert len({q["id"] for q in questions()}) == len({q["question"] for q in questions()}) == len(questions()) >= 190
    for q in questions():
        assert set(q) == FIELDS, q["id"]
        assert q["split"] in {"validation", "test"}
        assert q["asker_context"] is None or q["asker_context"] in contexts, q["id"]
        assert bool(q["gold"]) == bool(q["answer"]) == (q["expected"] == "answered"), q["id"]


def test_each_kind_has_its_minimum_of_questions() -> None:
    counts = Counter(q["kind"] for q in questions())
    assert set(counts) == set(FEWEST)
    assert all(counts[kind] >= fewest for kind, fewest in FEWEST.items()), counts
    assert all(q["expected"] == EXPECTED.get(q["kind"], "answered") for q in questions())


def test_senses_exist_in_the_glossary() -> None:
    known = {(row["term"], row["context"]) for row in read_rows("glossary.csv")}
    for q in questions():
        assert all((sense["term"], sense["context"]) in known for sense in q["senses"]), q["id"]


def test_the_jargon_of_a_question_appears_in_it() -> None:
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for row in read_rows("glossary.csv"):
        forms[row["term"]] |= {row["term"].lower(), *filter(None, row["aliases"].lower().split("|"))}
    for q in questions():
        if q["kind"] in {"abbreviated", "ambiguous", "tied", "multiple_choice"}:
            for sense in q["senses"]:
                text = q["question"].lower()
                assert any(re.search(rf"(?<!\w){re.escape(form)}s?(?!\w)", text) for form in forms[sense["term"]]), q


def test_every_glossary_term_of_a_question_is_listed() -> None:
    terms = {row["term"] for row in read_rows("glossary.csv")}
    for q in questions():
        told = {sense["term"] for sense in q["senses"]}
        assert {term for term in terms if stands_in(term, q["question"])} <= told, q["id"]


def test_ambiguous_terms_have_several_senses() -> None:
    counts = Counter(row["term"] for row in read_rows("glossary.csv"))
    for q in questions():
        if q["kind"] == "ambiguous":
            assert any(counts[sense["term"]] > 1 for sense in q["senses"]), q["id"]
        if q["kind"] == "tied":
            assert q["asker_context"] is None and len(q["senses"]) == counts[q["senses"][0]["term"]] > 1, q["id"]


def test_quotes_appear_in_their_documents() -> None:
    for q in questions():
        for gold in q["gold"]:
            assert (DOCUMENTS / gold["document"]).is_file(), q["id"]
            assert squeeze(gold["quote"]) in text_of(gold["document"]), (q["id"], gold["quote"])
            assert len(gold["quote"].split()) <= 25, q["id"]


def test_unknown_terms_appear_in_no_document_and_no_glossary_entry() -> None:
    rows = read_rows("glossary.csv")
    texts = [" ".join(row.values()) for row in rows] + [text_of(name) for name in documents()]
    known = " ".join(texts).lower()
    for q in questions():
        assert bool(q["unknown_terms"]) == (q["kind"] == "unknown_term"), q["id"]
        for term in q["unknown_terms"]:
            assert term in q["question"] and not stands_in(term.lower(), known), (q["id"], term)


def test_each_context_has_ten_multiple_choice_questions() -> None:
    counts: Counter[str] = Counter()
    for q in questions():
        if q["kind"] != "multiple_choice":
            assert q["options"] is None and q["correct"] is None
            continue
        assert 2 <= len(q["options"]) == len(set(q["options"])) <= 5, q["id"]
        assert 0 <= q["correct"] < len(q["options"]), q["id"]
        assert q["senses"], q["id"]
        counts[q["gold"][0]["document"].split("/")[0]] += 1
        assert {folder(sense["context"]) for sense in q["senses"]} & {q["gold"][0]["document"].split("/")[0]}, q["id"]
    assert set(counts.values()) == {10} and len(counts) == 6, counts


def test_splits_are_stratified() -> None:
    halves: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for q in questions():
        choice = q["kind"] == "multiple_choice"
        halves[q["gold"][0]["document"].split("/")[0] if choice else q["kind"]][q["split"]] += 1
    assert all(abs(half["validation"] - half["test"]) <= 1 for half in halves.values()), halves


def test_no_document_contains_a_question() -> None:
    texts = [text_of(name).lower() for name in documents()]
    for q in questions():
        question = squeeze(q["question"]).lower().rstrip("?.")
        assert not any(question in text for text in texts), q["id"]


def test_jargon_is_an_obstacle_in_most_questions() -> None:
    """Check that most gold documents spell the term out only, while others use its short form in another meaning."""
    hidden = told = 0
    for q in questions():
        if q["kind"] == "ambiguous":
            terms = [sense["term"] for sense in q["senses"]]
            gold, others = q["gold"][0]["document"], [n for n in documents() if n != q["gold"][0]["document"]]
            told += 1
            absent = any(not stands_in(term, text_of(gold)) for term in terms)
            hidden += absent and any(stands_in(term, text_of(name)) for term in terms for name in others)
    assert hidden / told >= 0.6, (hidden, told)


def test_german_questions_quote_their_documents() -> None:
    folder = SAMPLES / "german"
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    assert len({one["id"] for one in asked}) == len(asked) == 60
    counts = Counter(one["language"] for one in asked)
    assert counts["de"] >= 30 and all(counts[language] >= 8 for language in ("en", "fr", "es")), counts
    for one in asked:
        assert bool(one.get("gold")) == (one["kind"] != "unanswerable"), one["id"]
        for gold in one.get("gold", ()):
            text = " ".join(plain_parts(folder / "documents" / gold["document"]))
            assert squeeze(gold["quote"]) in squeeze(re.sub(r"[*`|]", " ", text)), (one["id"], gold["quote"])

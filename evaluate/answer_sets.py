"""Sets of questions with answers: Argot's own on the samples, and public ones converted to the same form."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from argot.corpus.corpus import Source
from argot.errors import InvalidInput
from argot.evaluate.answer_questions import (
    AnswerQuestion,
    AnswerSet,
    GoldSnippet,
    build_answer_set,
    load_answer_questions,
)
from argot.evaluate.markdown_sources import make_markdown_source
from argot.json_text import json_lines

HOW_TO_GET = (
    "Set ARGOT_DATASETS to the folder that holds it: clapnq (primeqa/clapnq), mtrag_un (IBM/mt-rag-benchmark), "
    "aws_docs (awsdocs, siagholami/aws-documentation), ord_qa (lesliepy99/RAG-EDA), "
    "emanuals (abhi1nandy2/EMNLP-2021-Findings), financebench (patronus-ai/financebench), all on GitHub."
)


def choose_answer_set(
    file: Path | None, documents: Path | None, public: str | None, datasets: Path, split: str | None, *, stored: bool
) -> AnswerSet:
    """Return the questions of a file about a folder of documents, of a public set, or else of the samples.

    Args:
        datasets: the folder of public sets.
        split: only this half, if the questions are split.
        stored: whether a knowledge base is named. It may hold the documents, and then no folder is needed.

    Raises:
        InvalidInput: only part of what is needed is named, or something named cannot be read.
    """
    if public is not None:
        if file or documents:
            raise InvalidInput("--public includes questions and documents: leave out --questions and --documents.")
        return load_public_set(public, datasets)
    if file is not None and (documents is not None or stored):
        return build_answer_set(file, documents, split) if documents else _load_over_stored(file, split)
    if file or documents:
        raise InvalidInput("Give --questions FILE with --documents DIR or --home KB, or --public SET, or none of them.")
    folder = Path(str(files("argot.samples")))
    of_samples = build_answer_set(folder / "employee_questions.jsonl", folder / "documents", split)
    return replace(of_samples, glossary=folder / "glossary.csv")


def _load_over_stored(file: Path, split: str | None) -> AnswerSet:
    return AnswerSet(file.stem, load_answer_questions(file, split), ())


def load_public_set(name: str, datasets: Path) -> AnswerSet:
    """Load a public set by its name.

    Raises:
        InvalidInput: there is no such set, or the folder lacks it; the message says how to get it.
    """
    if name not in PUBLIC_SETS:
        raise InvalidInput(f"There is no public set '{name}'. Sets: {', '.join(PUBLIC_SETS)}.")
    folder = datasets / name
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is not there. {HOW_TO_GET}")
    questions, sources = PUBLIC_SETS[name](folder)
    return AnswerSet(name, questions, sources)


_Read = tuple[list[AnswerQuestion], list[Source]]


def _read_clapnq(folder: Path) -> _Read:
    """Read CLAPnq: one passage per question; the sentences that annotators selected are the snippets."""
    questions, sources = [], []
    for kind in ("answerable", "unanswerable"):
        for _, row in json_lines(folder / f"{kind}.jsonl"):
            name = f"{row['id']}.md"
            sources.append(make_markdown_source("clapnq", name, row["title"], row["passage"]))
            gold = tuple(GoldSnippet(name, sentence) for sentence in row["selected"])
            reference = next(iter(row["answers"]), "")
            questions.append(AnswerQuestion(row["id"], kind, row["question"], gold, reference))
    return questions, sources


def _read_mtrag(folder: Path) -> _Read:
    """Read MTRAG-UN: the last turn of each conversation, over the passages of all conversations."""
    questions, sources = [], {}
    for _, row in json_lines(folder / "turns.jsonl"):
        for passage in row["passages"]:
            name = _make_file_name(passage["id"])
            sources[name] = make_markdown_source("mtrag", name, passage["title"], passage["text"])
        gold = tuple(GoldSnippet(_make_file_name(passage["id"])) for passage in row["passages"])
        turns = [turn["text"] for turn in row["turns"]]
        # only the person's messages can be repeated; Argot's replies depend on its own documents
        earlier = tuple(turn["text"] for turn in row["turns"][:-1] if turn["speaker"] == "user")
        kind, reference = str(row["kind"][0]).lower(), next(iter(row["reference"]), "")
        wanted = gold if kind in ("answerable", "partial") else ()
        questions.append(AnswerQuestion(row["id"], kind, turns[-1], wanted, reference, earlier=earlier))
    return questions, list(sources.values())


def _read_aws(folder: Path) -> _Read:
    """Read the AWS documentation. It has 29,152 files and takes hours, unless --home names a knowledge base with
    them.
    """
    questions = [
        AnswerQuestion(row["_id"], "yes_no" if row["yes_no"] in ("Yes", "No") else "fact", row["text"],
                       (GoldSnippet(row["document"]),), row["answer"])
        for _, row in json_lines(folder / "questions.jsonl")
    ]  # fmt: skip
    return questions, list(_read_archive(folder / "documents.tar.xz"))


def _read_ord_qa(folder: Path) -> _Read:
    """Read ORD-QA: questions about a chip-design tool; each chunk of its documentation becomes a document."""
    sources, names = [], set()
    for book in json.loads((folder / "openroad_documentation.json").read_text("utf-8")):
        for chunk in book["knowledge"]:
            first, _, text = chunk["content"].partition("\n")
            name = f"{first.removeprefix('id:').strip()}.md"
            names.add(name)
            sources.append(make_markdown_source("ord_qa", name, "", text or first))
    questions = []
    for _, row in json_lines(folder / "ORD-QA.jsonl"):
        gold = tuple(GoldSnippet(f"{one}.md") for one in row["reference"] if f"{one}.md" in names)
        questions.append(AnswerQuestion(f"ord{row['id']}", row["type"], row["question"].strip(), gold, row["answer"]))
    return questions, sources


def _read_emanuals(folder: Path) -> _Read:
    """Read a television's manual. The gold section is the one whose title ends the question's path, if it is unique."""
    sections = json.loads((folder / "smart_tv_remote_manual_corpus.json").read_text("utf-8"))
    sources: list[Source] = []
    by_title: dict[str, list[str]] = {}
    for one in sections.values():
        name, text = f"{one['id']}.md", "\n".join(one["text"])
        if not text.strip():
            continue  # a heading with only subheadings
        sources.append(make_markdown_source("emanuals", name, one["title"], text))
        by_title.setdefault(one["title"], []).append(name)
    questions = []
    for place, row in enumerate(json.loads((folder / "smart_tv_qa_normalised.json").read_text("utf-8"))):
        held = by_title.get(row["section"].split(">")[-1], [])
        if len(held) == 1:
            gold = (GoldSnippet(held[0]),)
            questions.append(AnswerQuestion(f"tv{place}", row["kind"].lower(), row["question"], gold, row["answer"]))
    return questions, sources


def _read_financebench(folder: Path) -> _Read:
    """Read FinanceBench: the questions whose filing is in the folder as a PDF."""
    there = {path.stem: path for path in sorted((folder / "pdfs").glob("*.pdf"))}
    questions = []
    for _, row in json_lines(folder / "financebench_open_source.jsonl"):
        if row["doc_name"] in there:
            gold = (GoldSnippet(f"{row['doc_name']}.pdf"),)
            questions.append(
                AnswerQuestion(row["financebench_id"], row["question_type"], row["question"], gold, row["answer"])
            )
    return questions, [Source(f"financebench:///{path.name}", path.name, path.read_bytes) for path in there.values()]


PUBLIC_SETS: dict[str, Callable[[Path], _Read]] = {
    "clapnq": _read_clapnq,
    "mtrag_un": _read_mtrag,
    "aws_docs": _read_aws,
    "ord_qa": _read_ord_qa,
    "emanuals": _read_emanuals,
    "financebench": _read_financebench,
}


def _make_file_name(identifier: str) -> str:
    return f"{identifier.replace('/', '-')}.md"


def _read_archive(path: Path) -> Iterator[Source]:
    """Yield the Markdown files of an archive, one after the other; the archive is read once, from front to back."""
    with tarfile.open(path, "r|xz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() and member.name.endswith(".md") else None
            content = file.read() if file is not None else b""
            if content.strip():  # some are placeholders without content
                yield Source(f"aws:///{member.name}", Path(member.name).name, lambda content=content: content)  # type: ignore[misc]

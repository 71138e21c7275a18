"""The training data of the reader, out of the folder of data sets: questions with passages.

None of it may be added to the repository. Each function documents the permitted use and the split of its set.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from argot.json_text import json_lines
from argot.learn.questions.section_questions import make_heading_question, split_sections

Split = Literal["train", "validation"]
VALIDATION = {"clapnq": 0.3, "mtrag_un": 0.5}
MEDQUAD_QUESTIONS, AWS_DOCUMENTS, SECTION_QUESTIONS = 1_500, 1_500, 1_600
NEGATIVES = 2
PASSAGE_WORDS = 150
SALT = "reader"
REPEATED = {"clapnq": 3, "mtrag_un": 2}
"""How often examples by people are seen for each use of the others."""

_REPEATED_QUESTION = re.compile(r"^(?:[A-Z][^.?]{5,150}\?\s+)+")


@dataclass(frozen=True, slots=True)
class Example:
    """`passage` answers the question `text`, or is None; `negatives` do not, though they are near."""

    source: str
    text: str
    passage: str | None
    negatives: tuple[str, ...] = ()


def compute_share(identifier: str) -> float:
    """Compute an item's place in [0, 1) by a hash: the same for ever."""
    digest = hashlib.blake2b(f"{SALT}:{identifier}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") / 2**64


def choose_split(name: str, identifier: str) -> Split:
    return "validation" if compute_share(identifier) < VALIDATION[name] else "train"


def read_training_examples(datasets: Path) -> list[Example]:
    """Read all examples that may be learnt from, in an order that depends on the contents alone."""
    found = [
        *_read_medquad(datasets / "medquad" / "pairs.jsonl.xz"),
        *_read_documentation(datasets),
        *_read_clapnq(datasets / "clapnq"),
        *_read_mtrag(datasets / "mtrag_un" / "turns.jsonl"),
    ]
    seen = [(one, number) for one in found for number in range(REPEATED.get(one.source, 1))]
    return [one for one, _ in sorted(seen, key=lambda pair: compute_share(f"{pair[1]}{pair[0].text}{pair[0].passage}"))]


def write_examples(examples: Sequence[Example], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in examples)


def read_examples(path: Path) -> list[Example]:
    return [_parse_example(row) for _, row in json_lines(path)]


def _parse_example(row: dict[str, Any]) -> Example:
    return Example(row["source"], row["text"], row["passage"], tuple(row["negatives"]))


def _read_medquad(path: Path) -> Iterator[Example]:
    """Read MedQuAD: near passages without the answer are the other answers about the same thing."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    by_focus: dict[str, list[dict[str, str]]] = defaultdict(list)
    by_kind: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        by_focus[row["focus"]].append(row)
        by_kind[_read_kind(row)].append(row)
    chosen = sorted(rows, key=lambda row: compute_share(row["id"]))[:MEDQUAD_QUESTIONS]
    for place, row in enumerate(chosen):
        passage = _clean_answer(row["answer"])
        same = [one["answer"] for one in by_focus[row["focus"]] if one["question"] != row["question"]]
        kind = by_kind[_read_kind(row)]
        others = [*_rotate(same, place)[:NEGATIVES], kind[place % len(kind)]["answer"]]
        negatives = tuple(short for one in others if (short := _clean_answer(one)) != passage)[:NEGATIVES]
        question = row["question"].replace("What is (are)", "What is").replace(" ?", "?").strip()
        if len(passage.split()) >= 8:
            yield Example("medquad", question, passage, negatives)


def _clean_answer(answer: str) -> str:
    """Remove the question that some answers repeat in front, and shorten the answer."""
    return _shorten(_REPEATED_QUESTION.sub("", answer))


def _read_kind(row: dict[str, str]) -> str:
    return row["question"].replace(row["focus"], "").strip()


def _read_documentation(datasets: Path) -> Iterator[Example]:
    """Read headings of documentation as questions; a document's other sections are near, without the answer."""
    documents = [*_read_aws(datasets / "aws_docs" / "documents.tar.xz"), *_read_tfa(datasets / "tfa_docs" / "docs")]
    found: list[Example] = []
    for source, text in documents:
        sections = split_sections(text)
        for place, section in enumerate(sections):
            question = make_heading_question(section, int(compute_share(section.text) * 997))
            siblings = [one.passage for one in sections if one.heading != section.heading and one.text != section.text]
            if question and siblings:
                negatives = tuple(_rotate(siblings, place)[:NEGATIVES])
                found.append(Example(source, question, section.passage, negatives))
    yield from sorted(found, key=lambda one: compute_share(one.text + str(one.passage)))[:SECTION_QUESTIONS]


def _read_aws(path: Path) -> list[tuple[str, str]]:
    """Read the first documents of the archive's first half that a hash picks, one in eight."""
    found: list[tuple[str, str]] = []
    with tarfile.open(path, "r|xz") as archive:
        for member in archive:
            wanted = member.isfile() and member.name.endswith(".md") and compute_share(member.name) < 0.08
            file = archive.extractfile(member) if wanted else None
            if file is not None:
                found.append(("aws_docs", file.read().decode("utf-8", "replace")))
            if len(found) == AWS_DOCUMENTS:
                break
    return found


def _read_tfa(folder: Path) -> list[tuple[str, str]]:
    return [("tfa_docs", path.read_text("utf-8", "replace")) for path in sorted(folder.rglob("*.rst"))]


def _read_clapnq(folder: Path) -> Iterator[Example]:
    """Read CLAPnq, its 70 %: questions with their passage, and passages without an answer."""
    passages: list[str] = []
    for _, row in json_lines(folder / "unanswerable.jsonl"):
        if choose_split("clapnq", row["id"]) == "train":
            passage = f"{row['title']}\n{_join_tokens(row['passage'])}"
            passages.append(passage)
            yield Example("clapnq", row["question"], None, (passage,))
    rows = [row for _, row in json_lines(folder / "answerable.jsonl") if choose_split("clapnq", row["id"]) == "train"]
    for place, row in enumerate(rows):
        passage = _join_sentences(row["title"], row["sentences"])
        negatives = tuple(_rotate(passages, 7 * place)[:NEGATIVES])
        yield Example("clapnq", row["question"], passage, negatives)


def _read_mtrag(path: Path) -> Iterator[Example]:
    """Read MTRAG-UN, the half for training: the last turn behind the message before it."""
    turns = [row for _, row in json_lines(path) if choose_split("mtrag_un", row["id"]) == "train" and row["passages"]]
    for place, row in enumerate(turns):
        asked = [turn["text"] for turn in row["turns"] if turn["speaker"] == "user"]
        question = " ".join(asked[-2:]) if len(asked[-1].split()) < 8 else asked[-1]
        passages = [_shorten(f"{one['title']}\n{one['text']}") for one in row["passages"]]
        kind = str(row["kind"][0]).lower()
        others = [other for other in turns if other["collection"] == row["collection"] and other["id"] != row["id"]]
        near = [f"{one['title']}\n{one['text']}" for other in others for one in other["passages"][:1]]
        negatives = tuple(_shorten(one) for one in _rotate(near, place)[:NEGATIVES])
        if kind == "answerable":
            yield Example("mtrag_un", question, passages[0], negatives)
        elif kind == "unanswerable":
            yield Example("mtrag_un", question, None, tuple(passages[:NEGATIVES]))


def _join_sentences(title: str, sentences: Sequence[str]) -> str:
    """Join title and sentences into one passage."""
    return f"{title}\n{' '.join(map(_join_tokens, sentences))}" if title else " ".join(map(_join_tokens, sentences))


def _join_tokens(text: str) -> str:
    """Join words as people write them: the set has blanks around every mark."""
    for apart, written in (
        (" ,", ","),
        (" .", "."),
        ("`` ", '"'),
        (" ''", '"'),
        (" 's", "'s"),
        ("( ", "("),
        (" )", ")"),
    ):
        text = text.replace(apart, written)
    return " ".join(text.split())


def _shorten(text: str, words: int = PASSAGE_WORDS) -> str:
    return " ".join(text.split(" ")[:words]).strip()


def _rotate(items: Sequence[str], place: int) -> list[str]:
    """Rotate the items to begin at one place, so that each is used about as often."""
    start = place % len(items) if items else 0
    return [*items[start:], *items[:start]]

"""What the reader learns from, out of the folder of data sets: questions with passages.

Nothing of it enters the repository. Which set may be used for what, and how it is split, is said at each function.
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
from argot.learn.questions.section_questions import heading_question, sections_of

Split = Literal["train", "validation"]
VALIDATION = {"clapnq": 0.3, "mtrag_un": 0.5}
MEDQUAD_QUESTIONS, AWS_DOCUMENTS, SECTION_QUESTIONS = 1_500, 1_500, 1_600
NEGATIVES = 2
PASSAGE_WORDS = 150
SALT = "reader"
REPEATED = {"clapnq": 3, "mtrag_un": 2}
"""How often examples made by people are seen for once that others are."""

_REPEATED_QUESTION = re.compile(r"^(?:[A-Z][^.?]{5,150}\?\s+)+")


@dataclass(frozen=True, slots=True)
class Example:
    """`passage` answers the question `text`, or is None; `negatives` do not, though they are near."""

    source: str
    text: str
    passage: str | None
    negatives: tuple[str, ...] = ()


def share_of(identifier: str) -> float:
    """Where a hash puts an item, in [0, 1): the same for ever."""
    digest = hashlib.blake2b(f"{SALT}:{identifier}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") / 2**64


def split_of(name: str, identifier: str) -> Split:
    return "validation" if share_of(identifier) < VALIDATION[name] else "train"


def training_examples(datasets: Path) -> list[Example]:
    """Everything that may be learnt from, in an order that depends on the contents alone."""
    found = [
        *_medquad(datasets / "medquad" / "pairs.jsonl.xz"),
        *_documentation(datasets),
        *_clapnq(datasets / "clapnq"),
        *_mtrag(datasets / "mtrag_un" / "turns.jsonl"),
    ]
    seen = [(one, number) for one in found for number in range(REPEATED.get(one.source, 1))]
    return [one for one, _ in sorted(seen, key=lambda pair: share_of(f"{pair[1]}{pair[0].text}{pair[0].passage}"))]


def write_examples(examples: Sequence[Example], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in examples)


def read_examples(path: Path) -> list[Example]:
    return [_example(row) for _, row in json_lines(path)]


def _example(row: dict[str, Any]) -> Example:
    return Example(row["source"], row["text"], row["passage"], tuple(row["negatives"]))


def _medquad(path: Path) -> Iterator[Example]:
    """MedQuAD: near passages without the answer are the other answers about the same thing."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    by_focus: dict[str, list[dict[str, str]]] = defaultdict(list)
    by_kind: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        by_focus[row["focus"]].append(row)
        by_kind[_kind(row)].append(row)
    chosen = sorted(rows, key=lambda row: share_of(row["id"]))[:MEDQUAD_QUESTIONS]
    for place, row in enumerate(chosen):
        passage = _stated(row["answer"])
        same = [one["answer"] for one in by_focus[row["focus"]] if one["question"] != row["question"]]
        kind = by_kind[_kind(row)]
        others = [*_turned(same, place)[:NEGATIVES], kind[place % len(kind)]["answer"]]
        negatives = tuple(short for one in others if (short := _stated(one)) != passage)[:NEGATIVES]
        question = row["question"].replace("What is (are)", "What is").replace(" ?", "?").strip()
        if len(passage.split()) >= 8:
            yield Example("medquad", question, passage, negatives)


def _stated(answer: str) -> str:
    """The answer without the question that some repeat in front of it, shortened."""
    return _shortened(_REPEATED_QUESTION.sub("", answer))


def _kind(row: dict[str, str]) -> str:
    return row["question"].replace(row["focus"], "").strip()


def _documentation(datasets: Path) -> Iterator[Example]:
    """Headings of technical documentation as questions; the other sections of a document are near and do not answer."""
    documents = [*_aws(datasets / "aws_docs" / "documents.tar.xz"), *_tfa(datasets / "tfa_docs" / "docs")]
    found: list[Example] = []
    for source, text in documents:
        sections = sections_of(text)
        for place, section in enumerate(sections):
            question = heading_question(section, int(share_of(section.text) * 997))
            siblings = [one.passage for one in sections if one.heading != section.heading and one.text != section.text]
            if question and siblings:
                negatives = tuple(_turned(siblings, place)[:NEGATIVES])
                found.append(Example(source, question, section.passage, negatives))
    yield from sorted(found, key=lambda one: share_of(one.text + str(one.passage)))[:SECTION_QUESTIONS]


def _aws(path: Path) -> list[tuple[str, str]]:
    """The first documents of the archive's first half that a hash picks, one in eight."""
    found: list[tuple[str, str]] = []
    with tarfile.open(path, "r|xz") as archive:
        for member in archive:
            wanted = member.isfile() and member.name.endswith(".md") and share_of(member.name) < 0.08
            file = archive.extractfile(member) if wanted else None
            if file is not None:
                found.append(("aws_docs", file.read().decode("utf-8", "replace")))
            if len(found) == AWS_DOCUMENTS:
                break
    return found


def _tfa(folder: Path) -> list[tuple[str, str]]:
    return [("tfa_docs", path.read_text("utf-8", "replace")) for path in sorted(folder.rglob("*.rst"))]


def _clapnq(folder: Path) -> Iterator[Example]:
    """CLAPnq, its 70 %: questions with their passage, and passages without an answer."""
    passages: list[str] = []
    for _, row in json_lines(folder / "unanswerable.jsonl"):
        if split_of("clapnq", row["id"]) == "train":
            passage = f"{row['title']}\n{_untokenised(row['passage'])}"
            passages.append(passage)
            yield Example("clapnq", row["question"], None, (passage,))
    rows = [row for _, row in json_lines(folder / "answerable.jsonl") if split_of("clapnq", row["id"]) == "train"]
    for place, row in enumerate(rows):
        passage = _joined(row["title"], row["sentences"])
        negatives = tuple(_turned(passages, 7 * place)[:NEGATIVES])
        yield Example("clapnq", row["question"], passage, negatives)


def _mtrag(path: Path) -> Iterator[Example]:
    """MTRAG-UN, the half for training: the last turn behind the message before it."""
    turns = [row for _, row in json_lines(path) if split_of("mtrag_un", row["id"]) == "train" and row["passages"]]
    for place, row in enumerate(turns):
        asked = [turn["text"] for turn in row["turns"] if turn["speaker"] == "user"]
        question = " ".join(asked[-2:]) if len(asked[-1].split()) < 8 else asked[-1]
        passages = [_shortened(f"{one['title']}\n{one['text']}") for one in row["passages"]]
        kind = str(row["kind"][0]).lower()
        others = [other for other in turns if other["collection"] == row["collection"] and other["id"] != row["id"]]
        near = [f"{one['title']}\n{one['text']}" for other in others for one in other["passages"][:1]]
        negatives = tuple(_shortened(one) for one in _turned(near, place)[:NEGATIVES])
        if kind == "answerable":
            yield Example("mtrag_un", question, passages[0], negatives)
        elif kind == "unanswerable":
            yield Example("mtrag_un", question, None, tuple(passages[:NEGATIVES]))


def _joined(title: str, sentences: Sequence[str]) -> str:
    """Title and sentences as one passage."""
    return f"{title}\n{' '.join(map(_untokenised, sentences))}" if title else " ".join(map(_untokenised, sentences))


def _untokenised(text: str) -> str:
    """Words as people write them: the set has blanks around every mark."""
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


def _shortened(text: str, words: int = PASSAGE_WORDS) -> str:
    return " ".join(text.split(" ")[:words]).strip()


def _turned(items: Sequence[str], place: int) -> list[str]:
    """The items from one place on, round and round, so that each is used about as often."""
    start = place % len(items) if items else 0
    return [*items[start:], *items[:start]]

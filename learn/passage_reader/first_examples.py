"""The examples of the first stage, out of the folder of data sets: MedQuAD, sections under headings, and CLAPnq.

They teach what a question wants of a passage before the few questions of employees teach how people ask. None of the
data may be added to the repository; each function documents the set and its use.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from argot.json_text import json_lines
from argot.learn.passage_reader.examples import NO_PART, Example, JudgedPassage
from argot.learn.passage_reader.known_questions import list_held_back
from argot.learn.questions.section_questions import Section, make_heading_question, split_sections
from argot.tools.answering.quoting import read_units
from argot.tools.retrieval.passage_windows import PassageText

MEDQUAD_QUESTIONS, SECTION_QUESTIONS = 2_500, 4_000
MIXED_ANSWERS = 3
"""Answers, or sections, that are joined into one passage, of which one is asked for."""
MIXED_UNITS = 4
"""Units of each of them."""
CLAPNQ_VALIDATION = 0.3

_REPEATED_QUESTION = re.compile(r"^(?:[A-Z][^.?]{5,150}\?\s+)+")


def read_first_examples(datasets: Path) -> list[Example]:
    """Read all examples of the first stage, in an order that depends on the contents alone."""
    found = [
        *read_medquad(datasets / "medquad" / "pairs.jsonl.xz"),
        *read_sections(datasets / "lay_train"),
        *read_clapnq(datasets / "clapnq"),
    ]
    return sorted(found, key=lambda one: compute_share(one.source + one.question))


def read_medquad(path: Path) -> list[Example]:
    """Read MedQuAD (CC BY 4.0): answers about one subject are joined into a passage, and one of them is asked for."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    by_focus: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in rows:
        question = row["question"].replace("What is (are)", "What is").replace(" ?", "?").strip()
        units = _list_units(_REPEATED_QUESTION.sub("", row["answer"])[:2_000])
        if units:
            by_focus[row["focus"]][question] = units
    chosen = [(focus, question) for focus, answers in by_focus.items() for question in answers if len(answers) > 1]
    chosen.sort(key=lambda pair: compute_share(pair[1]))
    focuses = sorted(by_focus)
    found = []
    for place, (focus, question) in enumerate(chosen[:MEDQUAD_QUESTIONS]):
        others = [units for other, units in by_focus[focus].items() if other != question]
        strange = by_focus[focuses[(7 * place) % len(focuses)]]
        same_kind = [units for other, units in strange.items() if other.split()[:3] == question.split()[:3]]
        wrong = [(focus, others), *([("", same_kind)] if focus not in strange and same_kind else [])]
        found.append(_mix("medquad", question, focus, by_focus[focus][question], wrong, place))
    return found


def read_sections(folder: Path) -> list[Example]:
    """Read headings of documents as questions for the text below them; the sections beside it are near.

    The documents are those of `lay_train` (CC0, OGL, MIT, Apache-2.0, CC BY 4.0) that belong to no question of its
    validation and test.
    """
    found: list[Example] = []
    for questions in sorted(folder.glob("*/questions.jsonl")):
        held_back = list_held_back([row for _, row in json_lines(questions)])
        documents = questions.parent / "documents"
        for path in sorted(documents.rglob("*")):
            if path.suffix in (".md", ".rst") and path.relative_to(documents).as_posix() not in held_back:
                found += _ask_sections(split_sections(path.read_text("utf-8", "replace")))
    return sorted(found, key=lambda one: compute_share(one.question))[:SECTION_QUESTIONS]


def _ask_sections(sections: Sequence[Section]) -> Iterator[Example]:
    for place, section in enumerate(sections):
        question = make_heading_question(section, int(compute_share(section.text) * 997))
        beside = [one for one in rotate(sections, place)[1:] if one.heading != section.heading]
        units = _list_units(section.text)
        if question and beside and units:
            others = [_list_units(one.text) for one in beside]
            yield _mix(
                "sections", question, section.title, units, [(section.title, [one for one in others if one])], place
            )


def read_clapnq(folder: Path) -> list[Example]:
    """Read CLAPnq (Apache-2.0), its 70 %: the sentences that people selected, and passages without an answer."""
    found: list[Example] = []
    rows = [row for _, row in json_lines(folder / "answerable.jsonl") if is_clapnq_train(row["id"])]
    lacking = [row for _, row in json_lines(folder / "unanswerable.jsonl") if is_clapnq_train(row["id"])]
    empty = [_judge_sentences(row["title"], row["sentences"], ()) for row in lacking]
    for place, row in enumerate(rows):
        right = _judge_sentences(row["title"], row["sentences"], row["selected"])
        found.append(Example("clapnq", row["id"], row["question"], (right, *rotate(empty, 7 * place)[:2])))
    found += [Example("clapnq", row["id"], row["question"], (one,)) for row, one in zip(lacking, empty, strict=True)]
    return found


def is_clapnq_train(identifier: str) -> bool:
    return compute_share(identifier) >= CLAPNQ_VALIDATION


def _judge_sentences(title: str, sentences: Sequence[str], selected: Sequence[str]) -> JudgedPassage:
    chosen = {" ".join(one.split()) for one in selected}
    labels = tuple(int(" ".join(one.split()) in chosen) for one in sentences)
    return JudgedPassage.of_text(PassageText(title, tuple(map(_join_tokens, sentences))), labels)


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


def _list_units(text: str) -> list[str]:
    return [unit.plain for unit in read_units(text) if unit.kind != "heading" and unit.plain.strip()]


def _mix(  # noqa: PLR0917
    source: str,
    question: str,
    heading: str,
    right: Sequence[str],
    wrong: Sequence[tuple[str, Sequence[Sequence[str]]]],
    place: int,
) -> Example:
    """Make an example whose passage joins the right units with those of other answers, in any order.

    Args:
        wrong: headings with the answers of other questions: the first ones join the passage, and each makes one that
            does not answer.
    """
    draws = random.Random(f"{place} {question}")  # noqa: S311
    parts = [
        (tuple(right[:MIXED_UNITS]), 1),
        *((tuple(one[:MIXED_UNITS]), 0) for one in wrong[0][1][: MIXED_ANSWERS - 1]),
    ]
    draws.shuffle(parts)
    units = [(unit, label) for part, label in parts for unit in part]
    shown = heading if draws.random() < 0.5 else ""
    passages = [JudgedPassage.of_text(PassageText(shown, tuple(u for u, _ in units)), [v for _, v in units])]
    for other, answers in wrong:
        joined = [unit for one in answers[:MIXED_ANSWERS] for unit in one[:MIXED_UNITS]]
        if joined:
            passages.append(JudgedPassage.of_text(PassageText(other, tuple(joined)), (NO_PART,) * len(joined)))
    return Example(source, f"{source}-{place}", question, tuple(passages))


def compute_share(text: str) -> float:
    """Compute a text's place in [0, 1) by a hash: always the same, so that the choice never changes."""
    digest = hashlib.blake2b(f"passage-reader:{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def rotate(items: Sequence[Any], place: int) -> list[Any]:
    """Rotate the items to begin at one place, so that each is used about as often."""
    start = place % len(items) if items else 0
    return [*items[start:], *items[:start]]

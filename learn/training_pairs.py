"""Questions with the passages that answer them: the data that every training learns from, and is measured by."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from argot.errors import InvalidInput
from argot.files import replace_atomically
from argot.json_text import json_lines, json_rows

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
SHARES = (0.8, 0.1, 0.1)
"""Shares of training, validation and test (*Trustworthy Answers* A.1.1)."""
MAX_CHARS = {
    "id": 64, "question": 1000, "passage_id": 200, "passage": 100_000, "document": 1000, "kind": 40, "answer": 10_000,
}  # fmt: skip
"""Maximum characters of an imported text: all of it is shown to people, and corrected by them."""
_ID = re.compile("[A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """One question and the passage that answers it.

    `id` stays the same for the same question and passage; `passage` is its complete text as search returns it. `kind`
    says how the question was made ("heading", "standard", ...). `answer` may be empty: then only search and re-ranking
    can learn from it. `negatives` are ids of passages known not to answer it.
    """

    id: str
    question: str
    passage_id: str
    passage: str
    document: str
    kind: str
    part: Part
    answer: str = ""
    negatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolPassage:
    """A passage that questions are searched among."""

    id: str
    text: str
    document: str


def make_pair_id(question: str, passage_id: str) -> str:
    """Make the id of a question (ignoring case and spaces) about a passage: 16 hexadecimal digits."""
    return _hash_parts(" ".join(question.casefold().split()), passage_id).hex()


def choose_part(passage_id: str, seed: int) -> Part:
    """Choose the part of a passage, with all its questions: no passage is in two parts. 8:1:1 in the long run."""
    place = int.from_bytes(_hash_parts(str(seed), passage_id), "big") / 2**64
    train, validation, _ = SHARES
    return "train" if place < train else "validation" if place < train + validation else "test"


def _hash_parts(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()


# -- files ------------------------------------------------------------------------------------------------------------


def write_pairs(pairs: Iterable[TrainingPair], path: Path) -> None:
    """Write one JSON object a line, whole or not there."""
    _write(map(asdict, pairs), path)


def read_pairs(path: Path) -> list[TrainingPair]:
    """
    Raises:
        InvalidInput: the file cannot be read, or a line is no pair; the message names the line and what is missing.
    """
    return [_read_pair(row, f"{path.name}, line {number}") for number, row in json_lines(path)]


def parse_pairs(text: str, name: str) -> list[TrainingPair]:
    """Parse pairs of a file that somebody gave: each is checked, and no passage may be in two parts.

    Raises:
        InvalidInput: as `read_pairs`; the message ends with the remedy.
    """
    found: list[TrainingPair] = []
    parts: dict[str, tuple[Part, int]] = {}
    asked: dict[str, tuple[str, int]] = {}
    for number, row in json_rows(text, name):
        pair = _read_pair(row, f"{name}, line {number}")
        _require_storable(pair, f"{name}, line {number}")
        same, earlier = asked.setdefault(pair.id, (make_pair_id(pair.question, pair.passage_id), number))
        if same != make_pair_id(pair.question, pair.passage_id):
            raise InvalidInput(
                f"{name}, line {number}: its id '{pair.id}' is that of another question, in line {earlier}. Leave 'id' "
                "out: it is made of question and passage."
            )
        part, first = parts.setdefault(pair.passage_id, (pair.part, number))
        if part != pair.part:
            raise InvalidInput(
                f"{name}, line {number}: the passage '{pair.passage_id}' is in the part '{pair.part}', and in line "
                f"{first} in '{part}'. Put all questions about a passage into one part."
            )
        found.append(pair)
    return found


def _require_storable(pair: TrainingPair, place: str) -> None:
    """
    Raises:
        InvalidInput: one of its texts is too long to be reviewed, cannot be stored, or is no id.
    """
    for name, most in MAX_CHARS.items():
        text: str = getattr(pair, name)
        if len(text) > most:
            raise InvalidInput(
                f"{place}: what stands under {name!r} has {len(text):,} characters, and may have {most:,}. Shorten it."
            )
        # Halves of characters (lone surrogates), which JSON may hold, and NUL can neither be stored nor searched.
        if "\0" in text or text.encode("utf-8", "ignore") != text.encode("utf-8", "surrogatepass"):
            raise InvalidInput(f"{place}: what stands under {name!r} holds characters that are no text. Remove them.")
    if not _ID.fullmatch(pair.id):
        raise InvalidInput(f"{place}: {pair.id!r} is no id of a pair: letters, digits and hyphens. Or leave 'id' out.")


def serialize_pairs(pairs: Iterable[TrainingPair]) -> str:
    """Serialize pairs, one JSON object a line."""
    return "".join(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs)


def write_pool(passages: Iterable[PoolPassage], path: Path) -> None:
    _write(map(asdict, passages), path)


def read_pool(path: Path) -> list[PoolPassage]:
    """
    Raises:
        InvalidInput: as `read_pairs`.
    """
    return [
        PoolPassage(**_require_texts(row, ("id", "text", "document"), f"{path.name}, line {number}"))
        for number, row in json_lines(path)
    ]


def select_part(pairs: Sequence[TrainingPair], part: Part) -> list[TrainingPair]:
    return [pair for pair in pairs if pair.part == part]


def _write(rows: Iterable[dict[str, Any]], path: Path) -> None:
    with replace_atomically(path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def _read_pair(row: dict[str, Any], place: str) -> TrainingPair:
    texts = _require_texts(row, ("question", "passage_id", "passage", "document", "kind", "part"), place)
    if texts["part"] not in PARTS:
        raise InvalidInput(f"{place}: the part {texts['part']!r} is none of {', '.join(PARTS)}.")
    known = {one.name for one in fields(TrainingPair)}
    values = {name: value for name, value in row.items() if name in known} | texts
    values["id"] = values.get("id") or make_pair_id(values["question"], values["passage_id"])
    values["answer"], negatives = values.get("answer") or "", values.get("negatives") or []
    for name in ("id", "answer"):
        if not isinstance(values[name], str):
            raise InvalidInput(f"{place}: what stands under {name!r} is no text. Put it into quotation marks.")
    if not isinstance(negatives, list) or not all(isinstance(one, str) for one in negatives):
        raise InvalidInput(
            f'{place}: \'negatives\' is no list of ids of passages. Write: ["p1", "p2"], or leave it out.'
        )
    return TrainingPair(**{**values, "negatives": tuple(negatives)})


def _require_texts(row: dict[str, Any], names: Sequence[str], place: str) -> dict[str, Any]:
    for name in names:
        if not isinstance(row.get(name), str) or (name != "document" and not row[name].strip()):
            raise InvalidInput(f"{place}: it has no text under {name!r}. A line holds: {', '.join(names)}.")
    return {name: row[name] for name in names}

"""Short and long forms in running text, measured as in the SDU shared tasks on acronym identification.

There are two kinds of file. SDU 2021, task 1: a JSON list of sentences with `tokens` and BIO `labels` (B-short,
I-short, B-long, I-long, O). SDU 2022, acronym extraction: a JSON list of paragraphs with `text` and the character spans
`acronyms` and `long-forms`. The measure is that of the tasks' `scorer.py`: a form counts if its span is exactly right;
precision and recall are averaged over short and long forms, and F1 is the harmonic mean of these two averages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.files import read_text
from argot.jargon_db.mining import Span, find_forms

CLASSES = ("short", "long")
HALVES = ("choosing", "reporting")
LABELS = frozenset(["O", "B-short", "I-short", "B-long", "I-long"])
Unit = tuple[int, int]
"""The begin and the end (exclusive) of a form, in tokens or, if the file counts characters, in characters."""

# Tokens that had no spaces around them in the original text.
_JOINED = frozenset("-–/")


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text with its labelled forms. `offsets` are the positions of its tokens, if the file counts tokens."""

    id: str
    text: str
    half: str
    gold: Mapping[str, frozenset[Unit]]
    offsets: tuple[Unit, ...] | None = None


@dataclass(frozen=True, slots=True)
class FormScore:
    """The score of one class: the numbers of labelled forms, of forms found, and of forms found with the exact span."""

    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        return _compute_harmonic_mean(self.precision, self.recall)


@dataclass(frozen=True, slots=True)
class MeasuredForms:
    """The scores of both classes over some of the texts."""

    texts: int
    by_class: Mapping[str, FormScore]

    @property
    def precision(self) -> float:
        return sum(score.precision for score in self.by_class.values()) / len(self.by_class)

    @property
    def recall(self) -> float:
        return sum(score.recall for score in self.by_class.values()) / len(self.by_class)

    @property
    def f1(self) -> float:
        return _compute_harmonic_mean(self.precision, self.recall)

    def to_json(self) -> dict[str, Any]:
        classes = {
            name: {"gold": s.gold, "found": s.found, "precision": s.precision, "recall": s.recall, "f1": s.f1}
            for name, s in self.by_class.items()
        }
        macro = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {"texts": self.texts, "macro": macro, "classes": classes}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A form that was missed, or a false one that was found. Only of the half on which rules are chosen."""

    id: str
    kind: str
    form: str
    text: str


@dataclass(frozen=True, slots=True)
class IdentifyReport:
    """The measures of the whole file and of each of its halves."""

    name: str
    parts: Mapping[str, MeasuredForms]
    wrong: Sequence[Wrong]

    def to_json(self) -> dict[str, Any]:
        return {
            "suite": "identify",
            "data": self.name,
            "parts": {name: measured.to_json() for name, measured in self.parts.items()},
            "wrong_in_the_choosing_half": [
                {"id": one.id, "kind": one.kind, "form": one.form, "text": one.text} for one in self.wrong
            ],
        }


def evaluate_identify(
    name: str, data: Sequence[LabelledText], progress: Callable[[str, int, int], None]
) -> IdentifyReport:
    """Find the forms of every text, and compare them with the labels."""
    found: list[Mapping[str, frozenset[Unit]]] = []
    for done, one in enumerate(data, 1):
        found.append(find_labelled_forms(one))
        # Not for every text: there are thousands, and each takes very little time.
        if done % 100 == 0 or done == len(data):
            progress("reading texts", done, len(data))
    pairs = list(zip(data, found, strict=True))
    parts = {"all": measure_forms(pairs)}
    for half in HALVES:
        parts[half] = measure_forms([pair for pair in pairs if pair[0].half == half])
    wrong = [error for one, guess in pairs if one.half == HALVES[0] for error in _list_errors(one, guess)]
    return IdentifyReport(name, parts, wrong)


def find_labelled_forms(one: LabelledText) -> dict[str, frozenset[Unit]]:
    """Return the short and long forms of a text, in the units that its file counts."""
    forms = find_forms(one.text)
    spans = {"short": forms.short, "long": forms.long}
    return {kind: frozenset(_convert_spans(spans[kind], one.offsets)) for kind in CLASSES}


def measure_forms(pairs: Sequence[tuple[LabelledText, Mapping[str, frozenset[Unit]]]]) -> MeasuredForms:
    """Return the shared tasks' measure of some texts."""
    by_class = {
        name: FormScore(
            gold=sum(len(one.gold[name]) for one, _ in pairs),
            found=sum(len(guess[name]) for _, guess in pairs),
            right=sum(len(one.gold[name] & guess[name]) for one, guess in pairs),
        )
        for name in CLASSES
    }
    return MeasuredForms(len(pairs), by_class)


def load_labelled(path: Path) -> list[LabelledText]:
    """Load a file of either shared task.

    Raises:
        InvalidInput: the file cannot be read, is not JSON, or has an entry of neither kind; the message names the
            entry.
    """
    try:
        entries = json.loads(read_text(path))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidInput(
            f"{path} is no JSON: {error}. Give a file of SDU 2021 task 1 or SDU 2022 extraction."
        ) from error
    if not isinstance(entries, list) or not entries:
        raise InvalidInput(f"{path} must hold a list of sentences, each with tokens and labels, or text and spans.")
    return [_read_entry(path, number, entry) for number, entry in enumerate(entries, 1)]


def _read_entry(path: Path, number: int, entry: Any) -> LabelledText:
    try:
        if "tokens" in entry:
            return _read_tokens(str(entry.get("id", number)), entry["tokens"], entry["labels"])
        return _read_spans(str(entry.get("ID", number)), entry["text"], entry["acronyms"], entry["long-forms"])
    except (KeyError, TypeError, ValueError) as error:
        missing = f"has no {error}" if isinstance(error, KeyError) else f"is malformed: {error}"
        raise InvalidInput(
            f"{path}, entry {number} {missing}. It takes tokens and labels (SDU 2021), or text, acronyms and "
            "long-forms (SDU 2022); a file without labels cannot be measured."
        ) from error


def _read_tokens(name: str, tokens: Sequence[str], labels: Sequence[str]) -> LabelledText:
    if len(tokens) != len(labels) or not set(labels) <= LABELS:
        raise ValueError(f"{len(tokens)} tokens, {len(labels)} labels, which may be {', '.join(sorted(LABELS))}")
    text, offsets = _join_tokens(tokens)
    gold = {kind: frozenset(_find_labelled_units(labels, kind)) for kind in CLASSES}
    return LabelledText(name, text, _choose_half(tokens), gold, offsets)


def _read_spans(name: str, text: str, short: Iterable[Sequence[int]], long: Iterable[Sequence[int]]) -> LabelledText:
    gold = {"short": frozenset((a, b) for a, b in short), "long": frozenset((a, b) for a, b in long)}
    return LabelledText(name, text, _choose_half(text.split()), gold)


def _join_tokens(tokens: Sequence[str]) -> tuple[str, tuple[Unit, ...]]:
    """Return the sentence as it was probably written, and the position of each token in it."""
    text, offsets, glued = "", list[Unit](), True
    for token in tokens:
        # The files make hyphens and slashes tokens of their own; the original text had no spaces around them.
        joint = token in _JOINED
        text += "" if glued or joint else " "
        offsets.append((len(text), len(text) + len(token)))
        text, glued = text + token, joint
    return text, tuple(offsets)


def _find_labelled_units(labels: Sequence[str], kind: str) -> Iterable[Unit]:
    start: int | None = None
    # The "O" after the end closes a form at the end of the text.
    for index, label in enumerate([*labels, "O"]):
        if start is not None and label != f"I-{kind}":
            yield start, index
            start = None
        # Be lenient: an I- without its B- begins a form, too.
        if start is None and label.endswith(kind):
            start = index


def _convert_spans(spans: Iterable[Span], offsets: Sequence[Unit] | None) -> Iterable[Unit]:
    """Yield the spans in the units of the file: characters (`offsets` None), or the tokens that each span touches."""
    for span in spans:
        if offsets is None:
            yield span.start, span.end
            continue
        touched = [index for index, (start, end) in enumerate(offsets) if start < span.end and span.start < end]
        # A form that begins within a token cannot be right: the files label whole tokens.
        if offsets[touched[0]][0] == span.start:
            yield touched[0], touched[-1] + 1


def _choose_half(words: Sequence[str]) -> str:
    # By the words, not the id, so that copies of a sentence are in the same half.
    return HALVES[hashlib.blake2b(" ".join(words).encode(), digest_size=1).digest()[0] % 2]


def _list_errors(one: LabelledText, guess: Mapping[str, frozenset[Unit]]) -> Iterable[Wrong]:
    for kind in CLASSES:
        for verb, units in (("missed", one.gold[kind] - guess[kind]), ("too many", guess[kind] - one.gold[kind])):
            for start, end in sorted(units):
                form = one.text[_start(one, start) : _end(one, end)]
                yield Wrong(one.id, f"{kind}, {verb}", form, one.text)


def _start(one: LabelledText, unit: int) -> int:
    return unit if one.offsets is None else one.offsets[unit][0]


def _end(one: LabelledText, unit: int) -> int:
    return unit if one.offsets is None else one.offsets[unit - 1][1]


def _compute_harmonic_mean(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

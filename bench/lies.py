"""The false statements that the check of support lets through. Run: python bench/lies.py

`statements.jsonl` holds sentences of the sample documents (and of some passages written for it), each with an honest
paraphrase and mostly with a lie, both written by hand. From each sentence this script makes further lies by one change:
of a number, a unit, a currency, a rate, the scope, a word into its opposite, the negation or a name, or by a clause
added. Each is checked against the passage of its sentence as reference matching does, with a threshold of 0.5.

The rules of `tools.objections` were chosen on the lines at even places. The results on the other lines were seen as
well. `--all` makes the same changes to all other sentences of the samples, on which nothing was chosen.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from argot.corpus.readers import ReadLimits, read_document
from argot.evaluate.altered_statements import alter_sentence
from argot.settings import Settings
from argot.tools.answering.citations import join_source_text, match_references
from argot.tools.answering.objections import find_objection
from argot.tools.answering.support import SupportScorer, support
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_units
from argot.types import Passage

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from cutting import cut_passages

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples" / "documents"
THRESHOLD = 0.5
_SHORTEST, _LONGEST = 5, 32


@dataclass(frozen=True)
class Statement:
    sentence: str
    said: str
    kind: str
    passage: Passage
    decided_on: bool

    @property
    def is_true(self) -> bool:
        return self.kind in ("paraphrase", "quotation")


def load_statements() -> list[Statement]:
    """Return all statements, true or not, each with the passage it is checked against."""
    found = []
    for place, line in enumerate((HERE / "statements.jsonl").read_text("utf-8").splitlines()):
        row = json.loads(line)
        sentence = row["sentence"]
        passage = _build_passage(row)
        said = [("quotation", sentence), ("paraphrase", row["paraphrase"]), *alter_sentence(sentence, place)]
        said += [("by hand", row["lie"])] if "lie" in row else []
        found += [Statement(sentence, text, kind, passage, place % 2 == 0) for kind, text in said]
    return found


def _build_passage(row: dict[str, str]) -> Passage:
    if "passage" in row:
        return Passage("p", "d", "r", 0, 0, len(row["passage"]), row["passage"], "Title", ())
    return next(one for one in _cut_passages(row["document"]) if row["sentence"] in extract_prose(one.text).text)


def load_others() -> list[Statement]:
    """Return all other sentences of prose in the samples, unchanged and with each change."""
    known = {one.sentence for one in load_statements()}
    found = []
    for path in sorted(path for path in SAMPLES.rglob("*") if path.suffix in (".md", ".rst", ".txt", ".html")):
        for passage in _cut_passages(str(path.relative_to(SAMPLES))):
            units = (
                extract_prose(passage.text[a:b]).text for a, b, kind in split_units(passage.text) if kind == "prose"
            )
            for sentence in units:
                if sentence not in known and _SHORTEST < len(sentence.split()) <= _LONGEST:
                    said = [("quotation", sentence), *alter_sentence(sentence, len(found))]
                    found += [Statement(sentence, text, kind, passage, False) for kind, text in said]
    return found


@cache
def _cut_passages(document: str) -> list[Passage]:
    settings = Settings()
    path = SAMPLES / document
    return cut_passages(
        read_document(path.read_bytes(), path.name, ReadLimits.from_settings(settings)),
        document_id="d",
        revision_id="r",
        max_chars=settings.reading.passage_chars,
    )


def select_unequal(made: list[Statement]) -> list[Statement]:
    """Return the true statements, and those that a change really altered, each once."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for one in made:
        same = not one.is_true and one.said == one.sentence
        if not same and (one.said, one.passage.text) not in seen:
            seen.add((one.said, one.passage.text))
            kept.append(one)
    return kept


def is_cited(one: Statement) -> bool:
    return bool(match_references([one.said], [one.passage], SupportScorer(), threshold=THRESHOLD))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the statements that are judged wrongly")
    parser.add_argument("--all", action="store_true", help="change all other sentences of the samples instead")
    arguments = parser.parse_args()
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    said = select_unequal(load_others() if arguments.all else load_statements())
    for one in said:
        cited = is_cited(one)
        row = counts[one.kind]
        offset = 0 if one.decided_on else 2
        row[offset] += cited
        row[offset + 1] += 1
        if arguments.show and cited != one.is_true:
            texts = join_source_text(one.passage)
            score = support(one.said, texts)
            print(f"{one.kind:10} {score:.2f} {find_objection(one.said, texts):24} {one.said}  <- {one.sentence}")
    print(f"{'':12}passed of those decided on    passed of the others")
    for kind, (cited, count, cited_too, count_too) in counts.items():
        print(f"{kind:12}{cited:4} of {count:4}{cited_too:24} of {count_too:4}")
    lies = [row for kind, row in counts.items() if kind not in ("paraphrase", "quotation")]
    print("all lies", *(sum(row[n] for row in lies) for n in range(4)))
    print(f"{_measure_microseconds(said):.0f} microseconds for a new sentence and a passage")


def _measure_microseconds(said: list[Statement]) -> float:
    """Return the mean processor time of `support` and `find_objection` for a new sentence and a known passage."""
    texts = [(f"{one.said.rstrip('.')}!", join_source_text(one.passage)) for one in said]
    started = time.process_time()
    for sentence, text in texts:
        support(sentence, text)
        find_objection(sentence, text)
    return (time.process_time() - started) * 1e6 / len(texts)


if __name__ == "__main__":
    main()

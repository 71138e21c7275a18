"""How long the glossary's part of a question takes: python bench/lookup.py [--senses N]

Makes a glossary with that many senses (100,000 unless told), imports it from CSV, and asks questions with five terms.
"""

from __future__ import annotations

import argparse
import random
import string
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from argot.jargon_db import Glossary
from argot.jargon_db.words import english_words
from argot.types import Principal

QUESTIONS = 2_000
Result = TypeVar("Result")
ASKER = Principal("asker")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--senses", type=int, default=100_000)
    senses = parser.parse_args().senses
    dice = random.Random(1)
    text, terms = glossary_csv(senses, dice)
    with tempfile.TemporaryDirectory() as folder:
        glossary = Glossary.open(Path(folder) / "glossary.db")
        report = timed("import", lambda: glossary.import_csv(text))
        size = Path(folder, "glossary.db").stat().st_size / 1e6
        print(f"  {report.added:,} senses, {len(terms):,} terms, {size:.0f} MB")
        timed("import again", lambda: glossary.import_csv(text))
        timed("check and open", lambda: Glossary.open(Path(folder) / "glossary.db").close())
        timed("build matcher", lambda: glossary.matcher(ASKER))
        ask(glossary, terms, dice)
        glossary.close()


def ask(glossary: Glossary, terms: list[str], dice: random.Random) -> None:
    """Times the parts of each question; five terms in a sentence of about twenty words."""
    words = sorted(english_words())
    seconds: dict[str, list[float]] = {"find + look_up": [], "misspelt": [], "suggest": []}
    for _ in range(QUESTIONS):
        wanted = dice.sample(terms, 5)
        sentence = " ".join(dice.sample(words, 14) + wanted) + " for the NX-9Q?"
        begin = time.perf_counter()
        taken = glossary.matcher(ASKER).find(sentence)
        found = glossary.look_up(ASKER, [mention.term or "" for mention in taken])
        looked_up = time.perf_counter()
        assert all(found.values()) and len(found) >= 4, (sentence, found)
        seconds["find + look_up"].append(looked_up - begin)
        strange = "".join(dice.sample(wanted[0], len(wanted[0])))
        begin = time.perf_counter()
        glossary.matcher(ASKER).misspelt(f"{sentence} {strange}", taken)
        seconds["misspelt"].append(time.perf_counter() - begin)
    for _ in range(200):
        begin = time.perf_counter()
        glossary.suggest(ASKER, dice.choice(terms)[::-1])
        seconds["suggest"].append(time.perf_counter() - begin)
    for name, times in seconds.items():
        times.sort()
        print(
            f"{name:16} p50 {times[len(times) // 2] * 1e3:7.3f} ms   p95 {times[int(len(times) * 0.95)] * 1e3:7.3f} ms"
        )


def glossary_csv(senses: int, dice: random.Random) -> tuple[str, list[str]]:
    """A glossary in which four of five terms are abbreviations, and every second term has a decoy sense."""
    words = [word for word in sorted(english_words()) if len(word) > 3]
    terms: dict[str, None] = {}
    last = ""
    lines = ["term,context,expansion,description,notes,aliases,owner"]
    for number in range(senses):
        if number % 3 == 2:
            term = last
        elif number % 5 == 0:
            term = last = " ".join(dice.sample(words, 2))
        else:
            term = last = "".join(dice.choices(string.ascii_uppercase, k=dice.randint(3, 6)))
        terms[term] = None
        expansion = " ".join(dice.sample(words, 3))
        lines.append(f"{term},context {number % 40},{expansion} {number},What {term} is for.,,{expansion} alias,")
    return "\n".join(lines), list(terms)


def timed(name: str, work: Callable[[], Result]) -> Result:
    begin = time.perf_counter()
    result = work()
    print(f"{name:16} {time.perf_counter() - begin:7.2f} s")
    return result


if __name__ == "__main__":
    main()

"""The time and memory of importing a large TBX file, as terminologists' programs export it.

    python bench/term_bases.py --entries 100000
    python bench/term_bases.py --entries 1000 --write terms.tbx

Each entry has a subject field, a definition, a reference to another entry, two English terms of which one is deprecated
or an abbreviation, and a German one with its gender. The file is previewed, imported, and imported again, as a manager
does it: read in a process of its own, with the default limits. Seconds are wall-clock, memory is the peak of this
process and of its reader (target: a minute for the import of 100,000 entries).
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from argot.jargon_db import Glossary
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
FIELDS = 40
"""Subject fields, which become contexts."""
SYLLABLES = [consonant + vowel for consonant in "bklmnrst" for vowel in "aeio"]
ENTRY = """<conceptEntry id="c{number}"><descrip type="subjectField">{field}</descrip>
<ref type="crossReference" target="c{other}">{other}</ref>
<langSec xml:lang="en"><descripGrp><descrip type="definition">{definition}</descrip></descripGrp>
<termSec><term>{term}</term><termNote type="partOfSpeech">noun</termNote></termSec>
<termSec><term>{second}</term>{note}</termSec></langSec>
<langSec xml:lang="de"><termSec><term>{german}</term>\
<termNote type="grammaticalGender">feminine</termNote></termSec></langSec></conceptEntry>
"""
NOTES = (
    '<termNote type="termType">abbreviation</termNote>',
    '<termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote>',
)
HEAD = """<?xml version="1.0"?>
<tbx type="TBX-Basic" style="dca" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"><text><body>"""
Result = TypeVar("Result")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--write", type=Path, help="write the file, and measure nothing")
    given = parser.parse_args()
    data = "".join(write_term_base(given.entries, random.Random(1))).encode()
    if given.write:
        given.write.write_bytes(data)
        return
    print(f"{given.entries:,} entries, {len(data) / 1e6:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        glossary = Glossary.open(Path(folder) / "glossary.db")
        files = glossary.files
        seen = measure("preview", lambda: files.preview(ADMIN, data, "terms.tbx"))
        print(f"  {len(seen.added):,} senses, {len(seen.problems):,} problems, {len(seen.notices):,} notices")
        done = measure("import", lambda: files.import_file(ADMIN, data, "terms.tbx"))
        print(f"  {done.added:,} added, {len(done.contexts_added)} contexts")
        again = measure("import again", lambda: files.import_file(ADMIN, data, "terms.tbx"))
        print(f"  {again.unchanged:,} unchanged")
        glossary.close()


def write_term_base(entries: int, dice: random.Random) -> Iterator[str]:
    """Yield the parts of a TBX file with that many entries."""
    yield HEAD
    for number in range(entries):
        words = [make_word(dice) for _ in range(dice.randint(2, 3))]
        is_short = dice.random() < 0.5
        second = "".join(word[0] for word in words).upper() + str(number) if is_short else make_word(dice)
        yield ENTRY.format(
            number=number,
            other=dice.randrange(entries),
            field=f"field {dice.randrange(FIELDS)}",
            definition=" ".join(make_word(dice) for _ in range(12)),
            term=" ".join(words),
            second=second,
            note=NOTES[0] if is_short else NOTES[1],
            german=make_word(dice).capitalize() + make_word(dice),
        )
    yield "</body></text></tbx>"


def make_word(dice: random.Random) -> str:
    return "".join(dice.choices(SYLLABLES, k=dice.randint(2, 4)))


def measure(name: str, act: Callable[[], Result]) -> Result:
    began, processor = time.perf_counter(), sum(os.times()[:4])
    result = act()
    seconds, used = time.perf_counter() - began, sum(os.times()[:4]) - processor
    own, reader = (resource.getrusage(who).ru_maxrss / 1e3 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"{name}: {seconds:.1f} s, {used:.1f} s of processor; at most {own:,.0f} MB, its reader {reader:,.0f} MB")
    return result


if __name__ == "__main__":
    main()

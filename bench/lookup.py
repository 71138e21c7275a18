"""The time that the glossary takes for a question: python bench/lookup.py [--senses N] [--processor] [--no-service]
[--postgres URL]

Makes a glossary with that many senses (default 100,000) and asks questions with five terms on its read-only connection
(target: 2 ms at p95). Then it serves that glossary with `argot serve`, signs in as a manager, and types into the search
box of the managers' page letter by letter, over HTTP (target: 50 ms at p95). It also times the import, reading and
writing each format, the matcher that is built in the background after a change, conflicts, and rolling back. With
`--postgres` the glossary is on PostgreSQL, in a schema of its own that is dropped at the end, and the service and the
formats are left out.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from argot.jargon_db import Glossary, ReadOptions
from argot.jargon_db.formats.format_registry import FORMATS, read_file
from argot.jargon_db.lookup.ordinary_words import load_english_words
from argot.types import Principal

QUESTIONS = 2_000
Result = TypeVar("Result")
CLOCK = time.thread_time if "--processor" in sys.argv else time.perf_counter
ASKER = Principal("asker")
ADMIN = Principal("admin", sees_all=True)
ARGOT = [sys.executable, "-c", "from argot.ui.cli.main import main; main()"]
PASSWORD = "tilted copper llama 9"


def main() -> None:
    os.environ["LC_ALL"] = "C.UTF-8"  # a service says in the language of the terminal that it is open
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--senses", type=int, default=100_000)
    parser.add_argument("--processor", action="store_true", help="processor time of this process, for a busy machine")
    parser.add_argument("--no-service", action="store_true", help="leave out `argot serve` and the search box")
    parser.add_argument("--postgres", metavar="URL", help="use this PostgreSQL database instead of SQLite")
    given = parser.parse_args()
    dice = random.Random(1)
    text, terms = make_glossary_csv(given.senses, dice)
    if given.postgres:
        with open_on_postgresql(given.postgres) as glossary:
            import_glossary(glossary, text, terms)
            time_questions_and_changes(glossary, terms, dice)
            time_conflicts_and_roll_back(glossary)
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "kb"
        run_argot("init", "--home", home)
        path = home / "glossary.db"
        glossary = Glossary.open(path)
        import_glossary(glossary, text, terms)
        print(f"  {path.stat().st_size / 1e6:.0f} MB")
        time_formats(glossary)
        measure_time("check and open", lambda: Glossary.open(path).close())
        time_questions_and_changes(glossary, terms, dice)
        if not given.no_service:
            glossary.close()
            time_search_box(home, terms, dice)
            glossary = Glossary.open(path)
        time_conflicts_and_roll_back(glossary)
        glossary.close()


@contextmanager
def open_on_postgresql(url: str) -> Iterator[Glossary]:
    import psycopg

    from argot.postgresql.stores import PostgresqlStores

    schema = f"bench_{os.getpid()}"
    stores = PostgresqlStores(url, schema)
    yield Glossary.on(stores)
    stores.close()
    with psycopg.connect(url) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


def import_glossary(glossary: Glossary, text: str, terms: list[str]) -> None:
    report = measure_time("import", lambda: glossary.files.import_csv(text))
    print(f"  {report.added:,} senses, {len(terms):,} terms")
    measure_time("import again", lambda: glossary.files.import_csv(text))


def time_questions_and_changes(glossary: Glossary, terms: list[str], dice: random.Random) -> None:
    measure_time("build matcher", lambda: glossary.lookup.matcher(ASKER))
    time_questions(glossary, terms, dice)
    time_change(glossary)
    time_search(glossary, terms, dice)


def time_conflicts_and_roll_back(glossary: Glossary) -> None:
    measure_time("conflicts", lambda: glossary.conflicts.open(ASKER))
    measure_time("roll back", lambda: glossary.history.roll_back(ADMIN, 1, force=True))


def time_formats(glossary: Glossary) -> None:
    """Time writing each format, and reading it as an import does, in a process of its own."""
    for one in FORMATS:
        written = measure_time(
            f"write {one.name}", lambda one=one: glossary.files.export_file(ADMIN, one.name).encode()
        )
        told = measure_time(
            f"read {one.name}", lambda one=one, file=written: read_file(file, "x", one.name, ReadOptions())
        )
        print(f"  {len(told.senses):,} senses, {len(written) / 1e6:.0f} MB")


def time_change(glossary: Glossary) -> None:
    """Time the first question after a change, and the building of the new matcher."""
    glossary.senses.add("NX-9Q", "context 1", "next generation query")
    measure_time(
        "first question", lambda: glossary.lookup.matcher(ASKER).misspelt("what is a nexd generation query", [])
    )
    measure_time("new matcher", glossary._views.finish)


def time_questions(glossary: Glossary, terms: list[str], dice: random.Random) -> None:
    """Time the glossary's work on each question: five terms in a sentence of about twenty words."""
    words = sorted(load_english_words())
    seconds: dict[str, list[float]] = {"find + look_up": [], "misspelt": [], "suggest": []}
    for _ in range(QUESTIONS):
        wanted = dice.sample(terms, 5)
        sentence = " ".join(dice.sample(words, 14) + wanted) + " for the NX-9Q?"
        begin = CLOCK()
        taken = glossary.lookup.matcher(ASKER).find(sentence)
        found = glossary.lookup.senses(ASKER, [mention.term or "" for mention in taken])
        looked_up = CLOCK()
        assert all(found.values()) and len(found) >= 4, (sentence, found)
        seconds["find + look_up"].append(looked_up - begin)
        strange = "".join(dice.sample(wanted[0], len(wanted[0])))
        begin = CLOCK()
        glossary.lookup.matcher(ASKER).misspelt(f"{sentence} {strange}", taken)
        seconds["misspelt"].append(CLOCK() - begin)
    for _ in range(200):
        begin = CLOCK()
        glossary.lookup.suggest(ASKER, dice.choice(terms)[::-1])
        seconds["suggest"].append(CLOCK() - begin)
    for name, times in seconds.items():
        report_times(name, times)


def time_search(glossary: Glossary, terms: list[str], dice: random.Random) -> None:
    """Time the store's search at every letter typed."""
    seconds = []
    for typed in type_letters(terms, dice):
        begin = CLOCK()
        glossary.search.find(ASKER, typed)
        seconds.append(CLOCK() - begin)
    report_times("search", seconds)


def time_search_box(home: Path, terms: list[str], dice: random.Random) -> None:
    """Time every letter typed into the managers' page, and opening that page, in wall time."""
    import httpx

    run_argot("user", "add", "root", "--password", "--role", "admin", "--home", home, typed=f"{PASSWORD}\n")
    with run_service(home) as url:
        browser = httpx.Client(base_url=url, headers={"Accept": "text/html", "Origin": url}, timeout=60)
        assert browser.post("/sign-in", data={"name": "root", "password": PASSWORD}).status_code == 303
        seconds: dict[str, list[float]] = {"search box": [], "open the page": []}
        for number, typed in enumerate(type_letters(terms, dice)):
            path = "/glossary/search" if number % 50 else "/glossary"
            begin = time.perf_counter()
            answer = browser.get(path, params={"q": typed} if number % 50 else {}, headers={"HX-Request": "true"})
            spent = time.perf_counter() - begin
            assert answer.status_code == 200, (answer.status_code, typed)
            seconds["search box" if number % 50 else "open the page"].append(spent)
        browser.close()
    for name, times in seconds.items():
        report_times(name, times)


def type_letters(terms: list[str], dice: random.Random) -> Iterator[str]:
    """Yield the text in the box letter by letter: terms, words of expansions, text in nearly all senses."""
    words = [word for word in sorted(load_english_words()) if len(word) > 3]
    texts = [
        *dice.sample(terms, 100),
        *dice.sample(words, 50),
        *(f"{' '.join(dice.sample(words, 2))}" for _ in range(50)),
    ]
    common = ["what is for", "is for", "alias", "context 1", "a", "e", "w", "what for 9999"]
    for text in [*texts, *common * 5]:
        yield from (text[:end] for end in range(1, len(text) + 1))


@contextmanager
def run_service(home: Path) -> Iterator[str]:
    """Run `argot serve` on a free port; yield its address."""
    command = [*ARGOT, "serve", "--home", str(home), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        assert process.stderr
        found = next(filter(None, (re.search(r"is open at (http://\S*?:\d+)", line) for line in process.stderr)))
        yield found[1]
    finally:
        process.terminate()
        process.communicate()


def run_argot(*arguments: object, typed: str = "") -> None:
    command = [*ARGOT, *map(str, arguments)]
    subprocess.run(command, input=typed, text=True, check=True, stdout=subprocess.DEVNULL, env=os.environ)


def report_times(name: str, times: list[float]) -> None:
    times.sort()
    print(f"{name:16} p50 {times[len(times) // 2] * 1e3:7.3f} ms   p95 {times[int(len(times) * 0.95)] * 1e3:7.3f} ms")


def make_glossary_csv(senses: int, dice: random.Random) -> tuple[str, list[str]]:
    """Return a glossary in which four of five terms are abbreviations, and every second term has a decoy sense."""
    words = [word for word in sorted(load_english_words()) if len(word) > 3]
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


def measure_time(name: str, work: Callable[[], Result]) -> Result:
    begin, begun = time.perf_counter(), time.thread_time()
    result = work()
    clock, processor = time.perf_counter() - begin, time.thread_time() - begun
    print(f"{name:16} {clock:7.2f} s, this process's processor {processor:7.2f} s")
    return result


if __name__ == "__main__":
    main()

"""The detection and the repair of damage: zeroed pages, flipped bits, truncated and deleted files.

    python bench/damage.py                     # some hours on two cores: 25 places of each kind in each file
    python bench/damage.py --places 2          # minutes
    python bench/damage.py --places 0          # one page of each file
    python bench/damage.py --only length.bin

A knowledge base with a saved graph, people, a glossary and a conversation is made, and a backup of it. Then, for every
file in it, a copy is damaged in one way at one place. On the copy run `argot ask`, `argot doctor`, the command that
these name as the remedy, and `argot ask` again. Each command is forked from a process that has imported everything. It
embeds by hashing words, which takes no time and can be damaged just as well.

A trial fails where a command ends in a traceback, a panic, a signal or never; where doctor finds a fault without a
remedy; and where the question is not answered after the remedy. Damage that nothing detected is counted separately:
without a checksum (as for SQLite's texts) a flipped bit cannot be distinguished from the written data.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argot.corpus import corpus
from argot.corpus.embedding import embedder
from argot.protocols import Vectors

PAGE = 4096
DOCUMENTS, SECTIONS, SECTION_WORDS = 22, 50, 24
PASSAGE_CHARS = 200
"""Each section of a document becomes a passage of its own: above 1,000 vectors Chroma saves its graph."""
PRELOADED = (
    "argot.graph.build",
    "argot.service.operations.doctor",
    "argot.service.transport.knowledge_base_client",
    "argot.service.usecases.catalogue",
    "argot.ui.cli.main",
    "chromadb.api.rust",
    "chromadb_rust_bindings",
    "langgraph.checkpoint.sqlite.aio",
    "onnxruntime",
    "tokenizers",
)
QUESTION, ANSWER = "What is a PUC?", "pump unit controller"
MOST_SECONDS = 600
WORDS = (
    "pump",
    "valve",
    "sensor",
    "bearing",
    "shaft",
    "rotor",
    "coolant",
    "pressure",
    "filter",
    "gasket",
    "motor",
    "drive",
    "belt",
    "gear",
    "torque",
    "alarm",
)
UNFIT = re.compile(r"Traceback|panicked|PanicException|Unexpected|Fatal Python error")
FILES = (
    "corpus.db", "glossary.db", "people.db", "threads.db", "knowledge_base.json", "blobs/*/*", "vectors/CURRENT",
    "vectors/*/chroma.sqlite3", "vectors/*/*/header.bin", "vectors/*/*/data_level0.bin", "vectors/*/*/length.bin",
    "vectors/*/*/link_lists.bin", "vectors/*/*/index_metadata.pickle",
)  # fmt: skip

Harm = Callable[[Path], None]


class HashingEmbedder:
    """An embedder by word hashes: texts with the same words are near each other."""

    fingerprint, dimensions = "hashing", 64

    def windows(self, text: str) -> list[str]:
        return [text]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()):
                row[zlib.crc32(word.encode()) % self.dimensions] += 1 + zlib.adler32(word.encode()) % 7
            row[0] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    embed_queries = embed_searches = embed_passages


@dataclass(frozen=True)
class CommandRun:
    code: int
    said: str


def run_argot(*arguments: object) -> CommandRun:
    """Run a command in a process of its own; a negative code is the signal it ended by."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            _turn_into_command(arguments, output.fileno())
        deadline = time.monotonic() + MOST_SECONDS
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.02)
        output.seek(0)
        return CommandRun(os.waitstatus_to_exitcode(ended[1]), output.read().decode(errors="replace"))


def _turn_into_command(arguments: tuple[object, ...], output: int) -> None:
    code = 70
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = (io.TextIOWrapper(os.fdopen(n, "wb", 0), write_through=True) for n in (1, 2))
        from argot.ui.cli.main import main

        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
        os._exit(code)


def make_base(folder: Path) -> Path:
    """Make the knowledge base, and `backup.tar` beside it."""
    chosen, documents, home = random.Random(5), folder / "documents", folder / "kb"
    documents.mkdir()
    (documents / "puc.md").write_text("# Pumps\n\nA PUC (pump unit controller) stops the pump above 12 bar.\n")
    for n in range(DOCUMENTS):
        texts = (" ".join(chosen.choices(WORDS, k=SECTION_WORDS)).capitalize() for _ in range(SECTIONS))
        (documents / f"{n}.md").write_text("".join(f"# Part {n}.{m}\n\n{text}.\n\n" for m, text in enumerate(texts)))
    for command in (
        ("init",), ("add", documents), ("context", "add", "Pumps"), ("user", "add", "ann"),
        ("glossary", "add", "PUC", "Pumps", "pump unit controller"),
        ("ask", QUESTION), ("backup", folder / "backup.tar"),
    ):  # fmt: skip
        done = run_argot(*command, "--home", home)
        if done.code:
            sys.exit(f"argot {command}: {done.said}")
    return home


def list_harms(size: int, places: int, chosen: random.Random) -> Iterator[tuple[str, Harm]]:
    """Yield the kinds of damage to a file. With `places` 0: only one zeroed page in the middle."""
    if not places:
        yield "zeros", lambda file: _write(file, middle := size // 2 // PAGE * PAGE, bytes(min(PAGE, size - middle)))
        return
    pages = sorted(chosen.sample(range(0, size, PAGE), min(places, -(-size // PAGE))))
    for at in pages:
        yield f"zeros at {at}", lambda file, at=at: _write(file, at, bytes(min(PAGE, size - at)))
    for _ in range(places):
        at, bit = chosen.randrange(size), chosen.randrange(8)
        yield (
            f"bit {bit} of {at}",
            lambda file, at=at, bit=bit: _write(file, at, bytes([_read_byte(file, at) ^ 1 << bit])),
        )
    for length in sorted({0, 1, size // 2, size - 1}):
        yield f"cut to {length}", lambda file, length=length: os.truncate(file, length)
    yield "deleted", Path.unlink


def _read_byte(file: Path, at: int) -> int:
    with file.open("rb") as opened:
        opened.seek(at)
        return opened.read(1)[0]


def _write(file: Path, at: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(content)


def run_trial(home: Path, backup: Path) -> tuple[str, str]:
    """Return the outcome for a damaged base: a verdict, and the message that explains it."""
    asked, looked = run_argot("ask", QUESTION, "--home", home), run_argot("doctor", "--json", "--home", home)
    said = asked.said + looked.said
    if broken := next((run for run in (asked, looked) if run.code not in (0, 1) or UNFIT.search(run.said)), None):
        return "BROKEN", f"[{broken.code}] {broken.said}"
    try:
        findings = json.loads(looked.said[looked.said.index("[") : looked.said.rindex("]") + 1])
    except ValueError:
        return "BROKEN", looked.said
    problems = [one for one in findings if not one["ok"]]
    if not problems:
        return ("unnoticed" if ANSWER in asked.said else "UNNAMED"), said
    return _apply_remedy(home, backup, problems, named=asked.code == 1)


def _apply_remedy(home: Path, backup: Path, problems: list[dict[str, str]], *, named: bool) -> tuple[str, str]:
    """Run the first of the problems' remedies that is a command."""
    told = "\n".join(f"{one['detail']} -> {one['remedy']}" for one in problems)
    command = re.search(r"argot reindex|argot restore|rm \S*knowledge_base\.json", told)
    if command is None:
        return "NO REMEDY", told
    if command[0].startswith("rm"):
        (home / "knowledge_base.json").unlink()
        done = CommandRun(0, "")
    elif command[0] == "argot restore":
        done = run_argot("restore", "--force", backup, "--home", home)
    else:
        done = run_argot("reindex", "--home", home)
    again, looked = run_argot("ask", QUESTION, "--home", home), run_argot("doctor", "--home", home)
    if done.code or ANSWER not in again.said or looked.code or UNFIT.search(done.said + again.said + looked.said):
        return "NOT MENDED", f"{told}\n{command[0]}: {done.said}\n{again.said}\n{looked.said}"
    return f"{command[0].split()[-1] if ' ' in command[0] else command[0]}{'' if named else ', found by doctor'}", told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=25)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in PRELOADED:
        importlib.import_module(name)
    os.environ["ARGOT_PASSAGE_CHARS"] = str(PASSAGE_CHARS)
    embedder.load_embedder = corpus.load_embedder = lambda _: HashingEmbedder()  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory(prefix="argot-damage-") as folder:
        home, failed = make_base(Path(folder)), 0
        for pattern in FILES:
            if options.only in pattern:
                failed += _try_file(
                    home, sorted(home.glob(pattern)), pattern, options.places, random.Random(options.seed)
                )
    sys.exit(bool(failed))


def _try_file(home: Path, found: list[Path], pattern: str, places: int, chosen: random.Random) -> int:
    """Run all trials of one file; return how many failed."""
    if not found:
        print(f"{pattern}: NOT THERE")
        return 1
    file, copy, verdicts, failed = found[0].relative_to(home), home.with_name("copy"), Counter[str](), 0
    for name, harm in list_harms(found[0].stat().st_size, places, chosen):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(home, copy)
        harm(copy / file)
        verdict, why = run_trial(copy, home.with_name("backup.tar"))
        verdicts[f"{name.split()[0]}: {verdict}"] += 1
        if verdict.isupper():
            failed += 1
            print(f"  {file}, {name}: {verdict}\n    {why.strip()[-1500:]}", flush=True)
    print(f"{pattern}: {dict(sorted(verdicts.items()))}", flush=True)
    return failed


if __name__ == "__main__":
    main()

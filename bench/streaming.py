"""The cost of passing on a model's answer while it streams: Argot's processor time, and the wait for the first word.

    python bench/streaming.py [--at-once 1 8 32] [--tokens 300] [--speed 150] [--trees . /tmp/before] [--runs 3]

A model stub (`model_stub.py`) runs in a process of its own and streams answers of a fixed length at a fixed speed. Each
question is asked as by the chat window and the command line. Two rows for each number of questions at once:

- ask: the whole journey, with retrieval before the answer and reference matching after it.
- stream: only the model's answer, by the same session as in the journey.

`work` is this process's processor time per question (all threads), `first` the median and the longest wait for the
first word. Several `--trees` (checkouts, each prepared by `make links`) take turns, so that other load affects them
equally; the median of the runs is printed. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
WARMING = "What is the height limit for poles?"
PASSAGES = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8, 32], help="questions under way together")
    parser.add_argument("--questions", type=int, default=32, help="for each row, and at least as many as at once")
    parser.add_argument("--alone", type=int, default=8, help="for the rows of one at once, which take longest")
    parser.add_argument("--tokens", type=int, default=300, help="of each answer")
    parser.add_argument("--speed", type=float, default=150, help="tokens a second of each answer")
    parser.add_argument("--trees", type=Path, nargs="+", default=[HERE.parent], help="checkouts to compare")
    parser.add_argument("--runs", type=int, default=1, help="of each tree")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        from argot.service.operations.sample_base import build
        from argot.settings import load_settings

        home = Path(arguments.inside[0])
        build(home, load_settings(home=home))
        print(json.dumps(asyncio.run(measure_rows(*arguments.inside, arguments))))
        return
    with tempfile.TemporaryDirectory() as scratch, run_stub(arguments) as url:
        found: dict[Path, list[dict[str, Any]]] = {tree: [] for tree in arguments.trees}
        for run in range(arguments.runs):
            for tree in sorted(found, reverse=bool(run % 2)):
                found[tree].append(measure_tree(tree, Path(scratch) / "kb", url))
                print(f"run {run + 1} of {tree}", file=sys.stderr, flush=True)
    print(format_table(found))


@contextmanager
def run_stub(arguments: argparse.Namespace) -> Iterator[str]:
    """Run a model server in a process of its own, and yield its address."""
    command = [sys.executable, str(HERE / "model_stub.py"), "--first", "0.3", "--reply", "0.05"]
    command += ["--speed", str(arguments.speed), "--tokens", str(arguments.tokens)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def measure_tree(tree: Path, home: Path, url: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve() / ".links"), "ARGOT_MODEL_URL": url}
    command = [sys.executable, __file__, *sys.argv[1:], "--inside", str(home), url]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return dict(json.loads(done.stdout.splitlines()[-1]))


# -- within one tree --------------------------------------------------------------------------------------------------


async def measure_rows(home: str, url: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return each row's figures. Only interfaces that all trees have are used, so that it can measure older ones."""
    from argot.service.knowledge_base import KnowledgeBase
    from argot.service.observability.process_memory import freeze_start_up
    from argot.settings import load_settings

    patient = {"model_connect_seconds": 60.0, "model_first_token_seconds": 600.0, "model_seconds": 600.0}
    more = {"model_url": url, "model_answer_tokens": 2 * arguments.tokens, **patient}
    settings = load_settings(home=Path(home), **more)
    rows: dict[str, Any] = {}
    async with KnowledgeBase.open(settings.home, settings, patience=30) as kb:
        kb.warm_model()
        questions = choose_questions()
        for question in questions:  # fills the caches for all rows alike
            await time_words(stream_journey(kb, question))
        freeze_start_up()
        for name, ask in (("ask", stream_journey), ("stream", stream_answer)):
            for together in arguments.at_once:
                count = arguments.alone if together == 1 else max(arguments.questions, together)
                some = [questions[n % len(questions)] for n in range(count)]
                rows[f"{name} {together}"] = await measure_row(kb, some, together, ask)
    return rows


def choose_questions() -> list[str]:
    """Return some of the sample questions, none of which makes Argot ask back."""
    lines = resources.files("argot.samples").joinpath("questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [WARMING, *[json.loads(line)["question"] for line in lines[:7]]]


Ask = Callable[[Any, str], AsyncIterator[str]]


async def measure_row(kb: Any, questions: list[str], together: int, ask: Ask) -> dict[str, float]:
    firsts: list[float] = []
    pieces = 0
    before = time.process_time()
    for start in range(0, len(questions), together):
        group = [time_words(ask(kb, question)) for question in questions[start : start + together]]
        for first, count in await asyncio.gather(*group):
            firsts += [first] if first else []
            pieces += count
    work = time.process_time() - before
    each = 1000 / len(questions)
    return {
        "work": work * each,
        "first": median(firsts) * 1000,
        "longest": max(firsts) * 1000,
        "pieces": pieces / len(questions),
    }


async def time_words(words: AsyncIterator[str]) -> tuple[float | None, int]:
    """Return the seconds until the first word, and the number of pieces."""
    began, first, count = time.perf_counter(), None, 0
    async for _ in words:
        first = first or time.perf_counter() - began
        count += 1
    return first, count


async def stream_journey(kb: Any, question: str) -> AsyncIterator[str]:
    from argot.service.identity.people import make_local_principal
    from argot.service.usecases import catalogue

    async with aclosing(catalogue.dispatch(kb, make_local_principal(), "ask", {"question": question})) as events:  # type: ignore[type-var]
        async for event in events:
            if event["kind"] == "token":
                yield event["data"]


async def stream_answer(kb: Any, question: str) -> AsyncIterator[str]:
    from argot.prompts.loader import wrap_in_fence
    from argot.service.identity.people import make_local_principal

    found = kb.corpus.store.keyword_search(make_local_principal(), WARMING, PASSAGES)
    shown = kb.corpus.store.passages(make_local_principal(), [one for one, _ in found])
    passages = "\n\n".join(wrap_in_fence("passage", one.text, n=n) for n, (one, _) in enumerate(shown.values(), 1))
    session = kb.model_server.session([])
    async with aclosing(session.text("cited_answer", question=question, passages=passages)) as pieces:
        async for piece in pieces:
            yield piece


def format_table(found: dict[Path, list[dict[str, Any]]]) -> str:
    names = list(next(iter(found.values()))[0])
    lines = ["| what, at once | tree | work | first p50 | longest | pieces |", "|---|---|---|---|---|---|"]
    for name in names:
        for tree, runs in found.items():
            figures = [
                f"{median(run[name][key] for run in runs):.1f}" for key in ("work", "first", "longest", "pieces")
            ]
            lines.append(f"| {name} | {tree} | {' | '.join(figures)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

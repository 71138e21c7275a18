"""The cost of a turn's checkpoints in each of LangGraph's durability modes, and the loss by a kill in mid-turn.

    python bench/checkpoints.py [--turns 30]

The modes take turns question by question, so that other load on the machine affects all equally. Each asks the
questions of the sample knowledge base without a language model. Then a process is killed just before the answer is
matched with its passages. The stored rest of the turn is what the next turn continues from.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any

KINDS = ("sync", "async", "exit")


async def measure_turns(home: Path, turns: int) -> dict[str, list[tuple[float, int]]]:
    """Return for each mode the seconds of each turn, and the number of checkpoints that it wrote."""
    import json

    from argot.graph import run as graph_run
    from argot.graph.checkpoints.checkpointer import TurnSaver
    from argot.service.identity.people import make_local_principal
    from argot.service.knowledge_base import KnowledgeBase
    from argot.service.usecases.questions.questions import ask
    from argot.service.usecases.usecase_registry import get_answer
    from argot.settings import load_settings

    lines = resources.files("argot.samples").joinpath("questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines][:turns]
    found: dict[str, list[tuple[float, int]]] = {kind: [] for kind in KINDS}
    written = 0
    store = TurnSaver.store_checkpoint

    async def count_checkpoint(*given: Any, **named: Any) -> Any:
        nonlocal written
        written += 1
        return await store(*given, **named)

    TurnSaver.store_checkpoint = count_checkpoint  # type: ignore[method-assign]
    async with KnowledgeBase.open(home, load_settings(home=home, model_url="")) as kb:
        await kb.warm()
        for warm in (True, False):
            for number, question in enumerate(questions):
                for kind in KINDS[number % 3 :] + KINDS[: number % 3]:
                    graph_run.DURABILITY = kind  # type: ignore[assignment]
                    written, began = 0, time.perf_counter()
                    await get_answer(ask(kb, make_local_principal(), question=question, switches={"misses": "lenient"}))
                    if not warm:  # the first time fills the caches
                        found[kind].append((time.perf_counter() - began, written))
    return found


async def ask_and_die(home: Path, kind: str) -> None:
    """Ask, and end this process just before the answer is matched with its passages."""
    from argot.graph import run as graph_run
    from argot.service.identity.people import make_local_principal
    from argot.service.knowledge_base import KnowledgeBase
    from argot.service.usecases.questions.questions import ask
    from argot.settings import load_settings

    graph_run.DURABILITY = kind  # type: ignore[assignment]
    async with KnowledgeBase.open(home, load_settings(home=home, model_url="")) as kb:
        async for event in ask(kb, make_local_principal(), question="What does QLC stand for?"):
            if event.name == "match_references":
                os.kill(os.getpid(), signal.SIGKILL)


async def read_remains(home: Path) -> str:
    """Return the state that the latest thread holds of an interrupted turn."""
    from argot.service.identity.people import make_local_principal
    from argot.service.knowledge_base import KnowledgeBase
    from argot.settings import load_settings

    async with KnowledgeBase.open(home, load_settings(home=home, model_url=""), patience=30) as kb:
        thread = (await (await kb.threads()).of(make_local_principal().name))[0]
        state = await (await kb.graph()).aget_state({"configurable": {"thread_id": thread.id}})
        return f"goes on at {', '.join(state.next) or '-'}; question kept: {bool(state.values.get('asked'))}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--kill", nargs=2, metavar=("HOME", "KIND"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kill:
        asyncio.run(ask_and_die(Path(arguments.kill[0]), arguments.kill[1]))
        return
    from argot.service.operations.sample_base import build
    from argot.settings import load_settings

    with tempfile.TemporaryDirectory(prefix="argot-checkpoints-") as scratch:
        home = Path(scratch) / "kb"
        build(home, load_settings(home=home))
        found = asyncio.run(measure_turns(home, arguments.turns))
        print("| durability | turns | median, ms | mean, ms | checkpoints a turn | after a kill |")
        print("|---|--:|--:|--:|--:|---|")
        for kind, turns in found.items():
            subprocess.run([sys.executable, __file__, "--kill", str(home), kind], check=False)
            seconds = [one for one, _ in turns]
            median, mean = statistics.median(seconds) * 1000, statistics.mean(seconds) * 1000
            written = statistics.mean(count for _, count in turns)
            remains = asyncio.run(read_remains(home))
            print(f"| {kind} | {len(turns)} | {median:.1f} | {mean:.1f} | {written:.1f} | {remains} |")


if __name__ == "__main__":
    main()

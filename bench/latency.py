"""The wait for the first word, compared with plain RAG on the same model server; and Argot's own share of it.

    ARGOT_MODEL_URL=http://HOST:PORT/v1 python bench/latency.py [--questions 16] [--at-once 1 8] [--json]

Both sides are asked the sample knowledge base's own questions, in one run, on one server. Plain RAG embeds the
question, searches the vectors once, and streams one answer from the passages that the whole pipeline found for that
question, with the pipeline's own prompt for answers. The difference is thus everything that Argot does besides that
call.

To be fair to both, the sides take turns in going first. A server caches prompts, so each side of each run puts a line
of its own before the passages: neither profits from the other's or an earlier run's prompts, and for both the same
constant part is cached. No side is asked a question twice. A separate process finds the passages of each question, so
that nothing of them is cached in this one when it is timed. Questions the pipeline asks back about, or finds no answer
for, are left out. Before anything is timed the service has half a minute to read passages ahead, as it does after every
start; `--cold` asks at once.

- jargon: the pipeline understands a term of the question.
- rounds: model calls one after the other before the first word, the answer's own included.
- own: wall time minus the time in model calls, of which two parallel ones count once. `ahead` is the part of it before
  the first word, including the wait until the beginning of an answer is known not to be a refusal.
- work: this process's processor time per question, including the model's client, without that of answer workers. On a
  busy machine it is more reliable than wall time.

Times are in milliseconds.
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
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

from argot.errors import ArgotError
from argot.prompts.loader import prompt
from argot.service.answering.worker_pool import run_answer_workers
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.process_memory import freeze_start_up
from argot.service.operations.sample_base import build
from argot.service.usecases import catalogue
from argot.settings import Settings, load_settings
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.passage_fences import wrap_passages
from argot.types import Hit

READ_AHEAD_SECONDS = 30.0
WARMING = "What is the height limit for poles?"
SIDE_BY_SIDE = ("identify_jargon", "identify_context")


@dataclass(frozen=True)
class Question:
    """A question. `passages`: ids of those the pipeline answers it from, best first."""

    text: str
    context: str | None
    jargon: bool
    passages: list[str]


@dataclass
class TimedQuestion:
    """The times of one question to one side, in seconds. `first` is None if no word of an answer came."""

    first: float | None
    wall: float
    model: float = 0.0
    ahead: float | None = None
    rounds: int = 0
    calls: list[str] = field(default_factory=list)

    @property
    def own(self) -> float:
        return self.wall - self.model


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=16, help="for each row of the table")
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8], help="questions under way together")
    parser.add_argument("--profile", default="default")
    parser.add_argument("--workers", type=int, default=0, help="answer workers; plain RAG has none")
    parser.add_argument("--answer-tokens", type=int, default=48, help="longest answer: the first word is what counts")
    parser.add_argument("--home", type=Path, help="a folder with the sample knowledge base; without: a temporary one")
    parser.add_argument("--cold", action="store_true", help="ask at once, before passages are read ahead")
    parser.add_argument("--json", action="store_true", help="every single time, too")
    parser.add_argument("--passages", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.passages:
        asyncio.run(print_passages(arguments.home))
        return
    if not load_settings().model_server.url:
        parser.error("Which model server? Set ARGOT_MODEL_URL (and ARGOT_MODEL).")
    try:
        require_server(load_settings())
        measure(arguments)
    except (ArgotError, ConnectionError) as error:
        url = load_settings().model_server.url
        raise SystemExit(f"latency.py: error: {error} (ARGOT_MODEL_URL is {url})") from None


def measure(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        home = arguments.home or Path(scratch) / "kb"
        say(f"sample knowledge base: {build(home, load_settings(home=home))}")
        questions = choose_questions(home, arguments.questions * len(arguments.at_once))
        settings = load_settings(
            home=home,
            product=make_line("pipeline"),
            model_answer_tokens=arguments.answer_tokens,
            workers=arguments.workers,
        )
        report = asyncio.run(
            Bench(settings, arguments.profile, cold=arguments.cold).measure_sides(questions, arguments.at_once)
        )
    print(json.dumps(report, indent=2) if arguments.json else format_table(report))


def require_server(settings: Settings) -> None:
    """Require a model server that answers.

    Raises:
        ModelUnavailable, InvalidSettings: no model server answers; the message names the remedy.
    """
    server = ModelServer.from_settings(settings)
    assert server is not None

    async def describe_server() -> None:
        try:
            await server.describe()
        finally:
            await server.aclose()

    asyncio.run(describe_server())


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def make_line(side: str) -> str:
    """Return the line that precedes the passages in all prompts of one side of one run."""
    return f"{side} {uuid.uuid4().hex}"


# -- the questions and their passages ---------------------------------------------------------------------------------


def choose_questions(home: Path, count: int) -> list[Question]:
    command = [sys.executable, __file__, "--passages", "--home", str(home)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    known = [Question(**one) for one in json.loads(found)]
    return [one for jargon in (False, True) for one in [q for q in known if q.jargon is jargon][:count]]


async def print_passages(home: Path) -> None:
    """Print the sample questions that are answered without asking back, without a model, with their passages."""
    lines = resources.files("argot.samples").joinpath("questions.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    settings = load_settings(home=home, model_url="")
    async with KnowledgeBase.open(home, settings, patience=30) as kb:
        for entry in map(json.loads, lines):
            asked = {"question": entry["question"], "context": entry["asker_context"]}
            result = await catalogue.get_result(kb, make_local_principal(), "ask", **asked)
            if result["status"] == "answered":
                ids = [passage["passage_id"] for passage in result["passages"]]
                found.append(Question(entry["question"], entry["asker_context"], bool(result["jargon"]), ids))
    print(json.dumps([asdict(one) for one in found]))


# -- the two sides ----------------------------------------------------------------------------------------------------


class Bench:
    """Both sides, on one knowledge base and one server."""

    def __init__(self, settings: Settings, profile: str, *, cold: bool) -> None:
        self.settings = settings
        self.cold = cold
        self.profile = profile
        self.plain_line = make_line("plain")

    async def measure_sides(self, questions: Sequence[Question], at_once: Sequence[int]) -> dict[str, Any]:
        rows = []
        async with KnowledgeBase.open(self.settings.home, self.settings, patience=30) as kb, run_answer_workers(kb):
            await kb.answers.warm()
            await self._warm(kb)
            freeze_start_up()  # as `argot serve` does
            await asyncio.sleep(0 if self.cold else READ_AHEAD_SECONDS)
            for jargon in (False, True):
                some = [question for question in questions if question.jargon is jargon]
                share = len(some) // len(at_once)
                for place, together in enumerate(at_once):
                    rows.append(await self._measure_row(kb, some[place * share :][:share], together, jargon))
        return {"rows": rows, "profile": self.profile, "load": os.getloadavg()[0], "processors": os.cpu_count()}

    async def _warm(self, kb: KnowledgeBase) -> None:
        kb.warm_model()
        await catalogue.get_result(kb, make_local_principal(), "ask", question=WARMING, profile=self.profile)
        passages = kb.corpus.store.keyword_search(make_local_principal(), WARMING, 5)
        await self.ask_plain(kb, Question(WARMING, None, False, [found for found, _ in passages]))

    async def _measure_row(
        self, kb: KnowledgeBase, questions: Sequence[Question], together: int, jargon: bool
    ) -> dict[str, Any]:
        times: dict[str, list[TimedQuestion]] = {"pipeline": [], "plain": []}
        sides = {"pipeline": self.ask_pipeline, "plain": self.ask_plain}
        work = 0.0
        for place, start in enumerate(range(0, len(questions), together)):
            group = questions[start : start + together]
            for side in sorted(sides, reverse=bool(place % 2)):
                before = time.process_time()
                times[side] += await asyncio.gather(*(sides[side](kb, question) for question in group))
                work += (time.process_time() - before) * (side == "pipeline")
            say(f"{together} at once, {'with' if jargon else 'without'} jargon: {len(times['plain'])}/{len(questions)}")
        return compute_row(times["pipeline"], times["plain"], together, jargon, work)

    async def ask_pipeline(self, kb: KnowledgeBase, question: Question) -> TimedQuestion:
        """Ask the pipeline as the chat and the command line do."""
        asked = {"question": question.text, "context": question.context, "profile": self.profile}
        began = time.perf_counter()
        first, result = None, {}
        async with aclosing(catalogue.dispatch(kb, make_local_principal(), "ask", asked)) as events:  # type: ignore[type-var]
            async for event in events:
                if event["kind"] == "token" and first is None:
                    first = time.perf_counter() - began
                if event["kind"] == "result":
                    result = event["data"]
        wall = time.perf_counter() - began
        calls = result["model_calls"]
        names = [call["prompt"] for call in calls]
        return TimedQuestion(
            first, wall, sum_model_time(calls), compute_ahead(first, calls), count_in_sequence(names), names
        )

    async def ask_plain(self, kb: KnowledgeBase, question: Question) -> TimedQuestion:
        """Ask plain RAG: one retrieval, the same passages, one call."""
        began = time.perf_counter()
        first = None
        await asyncio.to_thread(self._search, kb, question.text)
        found = await asyncio.to_thread(kb.corpus.store.passages, make_local_principal(), question.passages[:5])
        hits = [Hit(passage, document, 1.0) for passage, document in found.values()]
        passages = "\n\n".join(wrap_passages(hits))
        async for _ in self._stream_answer(kb, question=question.text, passages=passages, product=self.plain_line):
            first = first or time.perf_counter() - began
        return TimedQuestion(first, time.perf_counter() - began)

    def _search(self, kb: KnowledgeBase, question: str) -> None:
        vector = kb.corpus.embedder.embed_passages([question])[0]  # the call that caches nothing
        kb.corpus.search_semantic(make_local_principal(), "passage", vector, 5)

    async def _stream_answer(self, kb: KnowledgeBase, **inputs: str) -> AsyncIterator[str]:
        """Stream the answer by OpenAI's client, without any code of Argot's around it."""
        assert kb.model_server is not None
        import openai

        client = build_plain_client(self.settings)
        roles = [{"role": role, "content": text} for role, text in prompt("cited_answer").messages(**inputs)]
        model = (await kb.model_server.served_model()).model
        tokens = self.settings.model_server.answer_tokens
        try:
            stream = await client.chat.completions.create(model=model, messages=roles, max_tokens=tokens, stream=True)
            async for chunk in stream:
                if chunk.choices and (text := chunk.choices[0].delta.content):
                    yield text
        except openai.APIConnectionError as error:
            raise ConnectionError("The language model server stopped answering: start it again.") from error


_clients: list[Any] = []


def build_plain_client(settings: Settings) -> Any:
    """Return the client, which keeps its connections for the whole run."""
    if not _clients:
        from openai import AsyncOpenAI

        key = settings.model_server.key.get_secret_value() or "none"
        _clients.append(AsyncOpenAI(base_url=settings.model_server.url, api_key=key, max_retries=0, timeout=600))
    return _clients[0]


def sum_model_time(calls: Sequence[dict[str, Any]]) -> float:
    """Return the total seconds of the calls; of two parallel ones, only the longer one's."""
    beside = [sum(call["seconds"] for call in calls if call["prompt"] == name) for name in SIDE_BY_SIDE]
    return float(sum(call["seconds"] for call in calls if call["prompt"] not in SIDE_BY_SIDE) + max(beside))


def count_in_sequence(names: Sequence[str]) -> int:
    """Return the number of sequential calls; of the two parallel kinds only the more frequent one counts."""
    return sum(name not in SIDE_BY_SIDE for name in names) + max(names.count(name) for name in SIDE_BY_SIDE)


def compute_ahead(first: float | None, calls: Sequence[dict[str, Any]]) -> float | None:
    """Return the wait for the first word without the time of other calls and of the answer's first token."""
    answer = [call for call in calls if call["prompt"] == "cited_answer"]
    if first is None or len(answer) != 1:
        return None
    return (
        first - sum_model_time([call for call in calls if call not in answer]) - float(answer[0]["first_token_seconds"])
    )


# -- the figures ------------------------------------------------------------------------------------------------------


def compute_row(
    ours: Sequence[TimedQuestion], plain: Sequence[TimedQuestion], together: int, jargon: bool, work: float
) -> dict[str, Any]:
    """Compute a row. Only questions with a first word from both sides are compared; own time is of all."""
    pairs = [(a.first, b.first) for a, b in zip(ours, plain, strict=True) if a.first and b.first]
    figures: dict[str, Any] = {"at_once": together, "jargon": jargon, "questions": len(ours), "compared": len(pairs)}
    if pairs:
        one, other = zip(*pairs, strict=True)
        figures |= {"first_p50": compute_ms(one, 50), "first_p95": compute_ms(one, 95)}
        figures |= {"plain_p50": compute_ms(other, 50), "plain_p95": compute_ms(other, 95)}
        figures |= {"ratio": round(median(one) / median(other), 2)}
    own = [one.own for one in ours]
    if before := [one.ahead for one in ours if one.ahead is not None]:
        figures |= {"ahead_p50": compute_ms(before, 50), "ahead_p95": compute_ms(before, 95)}
    figures |= {
        "own_p50": compute_ms(own, 50),
        "own_p95": compute_ms(own, 95),
        "work": round(work / len(ours) * 1000, 1),
    }
    figures |= {"rounds": round(sum(one.rounds for one in ours) / len(ours), 2)}
    return figures | {"pipeline": [asdict(one) for one in ours], "plain": [asdict(one) for one in plain]}


def compute_ms(seconds: Sequence[float], percent: int) -> float:
    ordered = sorted(seconds)
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] * 1000, 1)


COLUMNS = {
    "at once": "at_once",
    "jargon": "jargon",
    "n": "compared",
    "first p50": "first_p50",
    "p95": "first_p95",
    "plain p50": "plain_p50",
    "plain p95": "plain_p95",
    "ratio": "ratio",
    "rounds": "rounds",
    "own p50": "own_p50",
    "own p95": "own_p95",
    "ahead p50": "ahead_p50",
    "ahead p95": "ahead_p95",
    "work": "work",
}


def format_table(report: dict[str, Any]) -> str:
    lines = [[*COLUMNS], ["---"] * len(COLUMNS)]
    lines += [[str(figures.get(name, "-")) for name in COLUMNS.values()] for figures in report["rows"]]
    rows = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return f"{rows}\n\nprofile {report['profile']}; load {report['load']:.1f} on {report['processors']} processors"


if __name__ == "__main__":
    main()

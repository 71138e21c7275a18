"""Metrics of a running service, for Prometheus. No label ever contains a question, a name or a document.

Labels take their values from small fixed sets (surfaces, statuses, stages, prompts, classes of errors), so that what
people do cannot make the metrics grow.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from argot.clock import timestamp
from argot.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from argot.results import AskResult, ModelCall

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SURFACES = frozenset({"chat", "pages", "api", "openai", "slack", "mcp", "command", "service"})
STATUSES = frozenset(
    {"answered", "abstained", "query_miss", "needs_choice", "small_talk", "refused", "error", "stopped"}
)
FAILED = frozenset({"refused", "error", "stopped"})
SIDE_BY_SIDE = ("identify_jargon", "identify_context")
"""Concurrent calls to the model."""
INGESTED = ("added", "updated", "unchanged", "duplicate", "skipped", "failed")
WAITS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 13, 20, 30, 60, 120)
SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30)
LAG_EVERY = 0.25
"""Seconds between two measurements of the event loop's delay."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """A call to a model that failed. `reason`: one clause, without any text of the server or of people."""

    at: str
    prompt: str
    reason: str


class CaseRun(Protocol):
    """Record of a use case that has ended (`instrumentation.py`)."""

    name: str
    asks: bool
    surface: str
    first: float | None
    result: AskResult | None
    kinds: dict[str, int]
    stages: list[tuple[str, float]]
    error: str

    @property
    def seconds(self) -> float: ...


class Metrics:
    """The counters of one service, in a registry of their own.

    Raises:
        MissingExtra: prometheus-client is not installed.
    """

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
        except ImportError as error:
            raise MissingExtra("Metrics", "chat") from error
        # In the global registry the counters of two services in one process would clash.
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"registry": self.registry}
        self.questions = Counter("argot_questions", "Questions, by outcome", ["surface", "status"], **own)
        self.searches_again = Counter(
            "argot_searches_again", "Further searches in other words, by the question's outcome", ["status"], **own
        )
        self.first_token = Histogram(
            "argot_first_token_seconds", "From the question to the first word", ["surface"], buckets=WAITS, **own
        )
        self.answers = Histogram(
            "argot_answer_seconds", "From the question to the whole answer", ["surface"], buckets=WAITS, **own
        )
        self.own = Histogram(
            "argot_own_seconds", "Time of a question outside the language model", ["surface"], buckets=WAITS, **own
        )
        self.stages = Histogram("argot_stage_seconds", "Time in each stage", ["stage"], buckets=SHORT, **own)
        self.cases = Counter("argot_use_cases", "Use cases, by how they ended", ["case", "outcome"], **own)
        self.errors = Counter("argot_errors", "Errors, by their class", ["surface", "error"], **own)
        self.limited = Counter("argot_refused", "Questions not taken on", ["surface", "reason"], **own)
        self.misses = Counter("argot_missed_terms", "Terms asked for that nobody has defined", **own)
        self.documents = Counter("argot_documents", "Documents to be added, by outcome", ["outcome"], **own)
        self.model_calls = Counter("argot_model_calls", "Calls to the language model", ["prompt", "outcome"], **own)
        self.model_seconds = Histogram("argot_model_seconds", "Time of a call", ["prompt"], buckets=WAITS, **own)
        self.model_first = Histogram(
            "argot_model_first_token_seconds", "Wait for a call's first token", ["prompt"], buckets=WAITS, **own
        )
        self.model_tokens = Counter("argot_model_tokens", "Tokens sent and received", ["direction"], **own)
        self.requests = Counter("argot_http_requests", "Requests over HTTP", ["surface", "status"], **own)
        self.connections = Gauge("argot_open_conversations", "Chat windows that are connected", **own)
        self.running = Gauge("argot_questions_running", "Questions being answered", **own)
        self.waiting = Gauge("argot_questions_waiting", "Questions waiting for their turn", **own)
        self.audit_lost = Gauge("argot_audit_events_lost", "Audit events that a destination did not get", **own)
        self.workers = Gauge("argot_answer_workers", "Answer workers that take questions", **own)
        self.workers_bytes = Gauge("argot_answer_workers_resident_bytes", "Memory of the answer workers", **own)
        self.workers_lost = Counter("argot_answer_workers_lost", "Answer workers that ended unexpectedly", **own)
        self.last_model_failure: ModelFailure | None = None
        """Not among the metrics, because its text is no number: administrators see it on their page."""
        self.lag = Histogram("argot_loop_lag_seconds", "Delay of the event loop", buckets=SHORT, **own)
        ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)

    def show(self, running: Callable[[], float], waiting: Callable[[], float]) -> None:
        """Set the functions from which two gauges are read."""
        self.running.set_function(running)
        self.waiting.set_function(waiting)

    def show_workers(self, ready: Callable[[], float], memory: Callable[[], float]) -> None:
        """Set the same for the answer workers."""
        self.workers.set_function(ready)
        self.workers_bytes.set_function(memory)

    def case_ended(self, run: CaseRun, outcome: str) -> None:
        """Count a use case that has ended: `outcome` is the status of a question, else done, error, refused or
        stopped.
        """
        surface = run.surface if run.surface in SURFACES else "service"
        # The statuses of questions have a counter of their own; here they all count as done.
        self.cases.labels(run.name, outcome if outcome in FAILED else "done").inc()
        if run.error and outcome == "refused":
            self.limited.labels(surface, run.error).inc()
        elif run.error:
            self.errors.labels(surface, run.error).inc()
        if run.asks:
            self._count_question(run, outcome, surface)
        elif run.name == "add":
            for kind in INGESTED:
                if found := run.kinds.get(kind):
                    self.documents.labels(kind).inc(found)

    def model_called(self, call: ModelCall) -> None:
        """Count a call to the language model that has ended, whoever made it."""
        outcome = "cancelled" if call.failed == "was cancelled" else "failed" if call.failed else "ok"
        self.model_calls.labels(call.prompt, outcome).inc()
        if outcome == "failed":
            self.last_model_failure = ModelFailure(timestamp("seconds"), call.prompt, call.failed)
        self.model_seconds.labels(call.prompt).observe(call.seconds)
        # 0 if no token arrived.
        if call.first_token_seconds:
            self.model_first.labels(call.prompt).observe(call.first_token_seconds)
        self.model_tokens.labels("sent").inc(call.prompt_tokens)
        self.model_tokens.labels("received").inc(call.completion_tokens)

    async def watch_loop(self) -> None:
        """Measure the event loop's delay for ever: every answer waits for whatever blocks it."""
        while True:
            due = time.monotonic() + LAG_EVERY
            await asyncio.sleep(LAG_EVERY)
            self.lag.observe(max(0.0, time.monotonic() - due))

    def _count_question(self, run: CaseRun, outcome: str, surface: str) -> None:
        self.questions.labels(surface, outcome if outcome in STATUSES else "error").inc()
        # The times of refused or stopped questions are not those of answers.
        if "result" not in run.kinds:
            return
        calls, misses = (run.result.model_calls, run.result.misses) if run.result else ([], [])
        self.answers.labels(surface).observe(run.seconds)
        if run.first is not None:
            self.first_token.labels(surface).observe(run.first)
        self.own.labels(surface).observe(measure_time_outside_model(run.seconds, calls))
        self.misses.inc(len(misses))
        if run.result and run.result.searched_again:
            self.searches_again.labels(run.result.status).inc(len(run.result.searched_again))
        for name, seconds in run.stages:
            self.stages.labels(name).observe(seconds)


def measure_time_outside_model(seconds: float, calls: Iterable[ModelCall]) -> float:
    """Measure the part of a question's time without model calls; of two parallel ones the longer counts."""
    beside, others = dict.fromkeys(SIDE_BY_SIDE, 0.0), 0.0
    for call in calls:
        if call.prompt in beside:
            beside[call.prompt] += call.seconds
        else:
            others += call.seconds
    return max(0.0, seconds - others - max(beside.values()))

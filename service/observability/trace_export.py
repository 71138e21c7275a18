"""Export of traces of questions to the endpoint of `trace_endpoint`, by OpenTelemetry's protocol over HTTP.

A question is a trace: the question itself, the stages of its journey, and within them searches and calls to the
language model, with names from OpenTelemetry's conventions for generative AI. Without `trace_contents` it contains no
word of a question, a document or an answer, only names of stages, counts and times.

It is sent by a separate thread, from a queue that drops the excess. An unavailable or slow endpoint is reported once in
the log, and delays nobody.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from argot import __version__
from argot.errors import MissingExtra
from argot.service.observability.instrumentation import CaseRecord
from argot.service.observability.logs import Cleaner, list_secrets
from argot.service.observability.otlp_endpoint import (
    SEND_SECONDS,
    STOP_SECONDS,
    Reachability,
    make_otlp_url,
    quiet_libraries,
)
from argot.settings import Settings
from argot.tracing import Trace, TracedStep, begin_trace

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, Span
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

logger = logging.getLogger(__name__)

QUEUED = 4096
"""Spans that wait to be sent; a question has about twenty."""
BATCH_SPANS = 512
EVERY_MS = 2000
MAX_TEXT_CHARS = 20_000
"""Maximum characters of a text in a span."""
_PATH = "/v1/traces"


def make_traces_url(endpoint: str) -> str:
    return make_otlp_url(endpoint, _PATH)


def export_of(settings: Settings) -> TraceExport | None:
    """Return the export; None if no endpoint is set: then nothing is imported.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """
    return TraceExport(settings) if settings.telemetry.trace_endpoint else None


class TraceExport:
    """Export of the questions of one process."""

    def __init__(self, settings: Settings) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise MissingExtra("Traces", "traces") from error
        quiet_libraries()
        self.contents = settings.telemetry.trace_contents
        self._cleaner = Cleaner(list_secrets(settings))
        url = make_traces_url(settings.telemetry.trace_endpoint)
        self._sender = _make_sender(OTLPSpanExporter(endpoint=url, timeout=SEND_SECONDS), Reachability("traces", url))
        about = Resource({"service.name": "argot", "service.version": __version__})
        # Not by `atexit`, which would wait for an unavailable endpoint.
        self._provider = TracerProvider(resource=about, shutdown_on_exit=False)
        self._provider.add_span_processor(
            BatchSpanProcessor(
                self._sender, max_queue_size=QUEUED, max_export_batch_size=BATCH_SPANS, schedule_delay_millis=EVERY_MS
            )
        )
        self._tracer = self._provider.get_tracer("argot", __version__)

    def question(self) -> QuestionTrace:
        """Begin to trace the present question."""
        return QuestionTrace(self, begin_trace(contents=self.contents))

    def close(self) -> None:
        """Send the rest, within a moment."""
        self._sender.closing = True
        # A daemon: a hanging thread does not keep the process alive.
        last = threading.Thread(target=self._provider.shutdown, daemon=True)
        last.start()
        last.join(STOP_SECONDS)

    def send(self, trace: Trace, run: CaseRecord, outcome: str) -> None:
        """Put the question and its steps into the queue."""
        from opentelemetry.trace import SpanKind, set_span_in_context

        steps, ended = trace.close(), time.time_ns()
        root = self._tracer.start_span(
            "question", kind=SpanKind.SERVER, start_time=trace.began, attributes=self._describe_question(run, outcome)
        )
        if run.error:
            _fail(root, run.error)
        contexts: list[Context] = []
        for step in steps:
            outer = set_span_in_context(root) if step.parent is None else contexts[step.parent]
            contexts.append(self._export_step(step, outer, ended))
        root.end(ended)

    def _export_step(self, step: TracedStep, outer: Context, ended: int) -> Context:
        from opentelemetry.trace import SpanKind, set_span_in_context

        name = f"chat {step.noted.get('gen_ai.request.model', '')}".strip() if step.kind == "model" else step.name
        kind = SpanKind.CLIENT if step.kind == "model" else SpanKind.INTERNAL
        contents = {key: self._clean(text) for key, text in step.said.items()} if self.contents else {}
        attributes = {"argot.step": step.kind, **step.noted, **contents}
        span = self._tracer.start_span(name, outer, kind, attributes, start_time=step.began)
        if step.failed:
            _fail(span, step.failed)
        # An interrupted one has no end of its own.
        span.end(step.ended or ended)
        return set_span_in_context(span, outer)

    def _describe_question(self, run: CaseRecord, outcome: str) -> dict[str, Any]:
        attributes: dict[str, Any] = {"argot.surface": run.surface, "argot.case": run.name, "argot.status": outcome}
        if run.first is not None:
            attributes["argot.first_word_seconds"] = run.first
        if (result := run.result) is None:
            return attributes
        attributes |= {
            "argot.profile": result.profile,
            "argot.answered_by": result.answered_by,
            "argot.citations": len(result.cited_passages),
            "argot.missed_terms": len(result.misses),
        }
        if result.thread:
            # Both names of one thing: that of the conventions, and that by which Langfuse and others group traces.
            attributes |= {"gen_ai.conversation.id": result.thread, "session.id": result.thread}
        if self.contents:
            attributes |= {"input.value": self._clean(result.question), "output.value": self._clean(result.answer)}
        return attributes

    def _clean(self, text: str) -> str:
        """Return the text, shortened, without keys and passwords."""
        # Cut twice: cleaning takes time, and a key at the cut would be incomplete.
        return self._cleaner.remove_secrets(text[: 2 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS]


class QuestionTrace:
    """Receives the end of its question, and sends its steps."""

    def __init__(self, export: TraceExport, trace: Trace) -> None:
        self._export, self._trace = export, trace

    def case_ended(self, run: CaseRecord, outcome: str) -> None:
        try:
            self._export.send(self._trace, run, outcome)
        # A trace is only for observers: no question may fail because of it.
        except Exception:
            logger.exception("a question could not be traced")


def _fail(span: Span | Any, what: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", what)
    # Only the class: an error's message may repeat the question.
    span.set_status(Status(StatusCode.ERROR, what))


def _make_sender(exporter: SpanExporter, reached: Reachability) -> Any:
    """Return the exporter, which logs once that it fails, and once that it works again."""
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Sender(SpanExporter):
        closing = False

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            # A stop does not wait for an unavailable one.
            if self.closing and reached.failing:
                return SpanExportResult.FAILURE
            try:
                sent = exporter.export(spans) is SpanExportResult.SUCCESS
            # Any error of the library: the sending thread continues.
            except Exception:
                sent = False
            reached.note_attempt(sent=sent)
            return SpanExportResult.SUCCESS if sent else SpanExportResult.FAILURE

        def shutdown(self) -> None:
            exporter.shutdown()

    return Sender()

"""The part of `argot doctor` about traces and metrics: whether the endpoints accept them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from argot.errors import install_command
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.observability.metric_export import make_metrics_url
from argot.service.observability.trace_export import make_traces_url
from argot.settings import Settings
from argot.shown_addresses import hide_secrets

SECONDS = 3.0


def check_telemetry(settings: Settings) -> list[Finding]:
    """Sends empty requests, as the protocol allows; a collector that hangs takes `SECONDS` for each."""
    contents = "with contents" if settings.telemetry.trace_contents else "without contents"
    nowhere = "sent nowhere (docs/insight.md)"
    traces, metrics = settings.telemetry.trace_endpoint, settings.telemetry.metric_endpoint
    return [
        _check_endpoint("traces", make_traces_url(traces), _accepts_traces, contents)
        if traces
        else make_good_finding("traces", nowhere),
        _check_endpoint("metrics", make_metrics_url(metrics), _accepts_metrics)
        if metrics
        else make_good_finding("metrics", nowhere),
    ]


def _check_endpoint(name: str, url: str, takes: Callable[[str], bool], detail: str = "") -> Finding:
    if importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http") is None:
        return make_bad_finding(name, "OpenTelemetry is not installed", install_command("traces"))
    import httpx

    shown, variable = hide_secrets(url), f"ARGOT_{name[:-1].upper()}_ENDPOINT"
    remedy = f"see that the collector runs, or unset {variable}; questions are answered all the same"
    try:
        # Through the exporter itself, so that certificates and headers of the environment (OTEL_...) apply here, too.
        if takes(url):
            return make_good_finding(name, f"{shown} answers; {detail}" if detail else f"{shown} answers")
        code = httpx.post(url, content=b"", headers={"Content-Type": "application/x-protobuf"}, timeout=SECONDS)
        return make_bad_finding(
            name, f"{shown} answers {code.status_code}", f"{remedy}; keys go into OTEL_EXPORTER_OTLP_HEADERS"
        )
    except httpx.HTTPError as error:
        return make_bad_finding(name, f"{shown} does not answer ({type(error).__name__})", remedy)


def _accepts_traces(url: str) -> bool:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SpanExportResult

    exporter = OTLPSpanExporter(endpoint=url, timeout=SECONDS)
    sent = exporter.export([]) is SpanExportResult.SUCCESS
    exporter.shutdown()  # type: ignore[no-untyped-call]
    return sent


def _accepts_metrics(url: str) -> bool:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData

    exporter = OTLPMetricExporter(endpoint=url, timeout=SECONDS)
    sent = exporter.export(MetricsData([])) is MetricExportResult.SUCCESS
    exporter.shutdown()
    return sent

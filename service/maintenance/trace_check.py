"""The part of `argot doctor` about traces: does the endpoint take them?"""

from __future__ import annotations

import importlib.util

from argot.errors import install_command
from argot.service.maintenance.findings import Finding, bad, good
from argot.service.maintenance.model_checks import without_password
from argot.service.observability.trace_export import traces_url
from argot.settings import Settings

NAME = "traces"
SECONDS = 3.0
_REMEDY = "see that the collector runs, or unset ARGOT_TRACE_ENDPOINT; questions are answered all the same"


def trace_findings(settings: Settings) -> list[Finding]:
    """Sends an empty request, as the protocol allows; a collector that hangs takes `SECONDS`."""
    if not settings.trace_endpoint:
        return [good(NAME, "sent nowhere (docs/insight.md)")]
    if importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http") is None:
        return [bad(NAME, "OpenTelemetry is not installed", install_command("traces"))]
    import httpx
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SpanExportResult

    url = traces_url(settings.trace_endpoint)
    shown = without_password(url)
    contents = "with contents" if settings.trace_contents else "without contents"
    try:
        # By the exporter's own road, so that certificates and headers of the environment (OTEL_...) count here, too.
        exporter = OTLPSpanExporter(endpoint=url, timeout=SECONDS)
        sent = exporter.export([]) is SpanExportResult.SUCCESS
        exporter.shutdown()  # type: ignore[no-untyped-call]
        if sent:
            return [good(NAME, f"{shown} answers; {contents}")]
        code = httpx.post(url, content=b"", headers={"Content-Type": "application/x-protobuf"}, timeout=SECONDS)
        return [bad(NAME, f"{shown} answers {code.status_code}", f"{_REMEDY}; keys go into OTEL_EXPORTER_OTLP_HEADERS")]
    except httpx.HTTPError as error:
        return [bad(NAME, f"{shown} does not answer ({type(error).__name__})", _REMEDY)]

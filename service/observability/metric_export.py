"""Export of metrics to the endpoint of `metric_endpoint`, by OpenTelemetry's protocol over HTTP.

They are those of `/metrics` (`metrics.py`) under the same names, read from the same registry, so that nothing is
counted twice.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from argot import __version__
from argot.errors import MissingExtra
from argot.service.observability.metrics import Metrics
from argot.service.observability.otlp_endpoint import (
    SEND_SECONDS,
    STOP_SECONDS,
    Reachability,
    make_otlp_url,
    quiet_libraries,
)
from argot.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import HistogramDataPoint, Metric, MetricsData, NumberDataPoint
    from prometheus_client import CollectorRegistry
    from prometheus_client.samples import Sample

EVERY_SECONDS = 15.0
_PATH = "/v1/metrics"
_UNITS = {"_seconds": "s", "_bytes": "By"}
"""Name endings: the unit in OpenTelemetry's spelling."""

logger = logging.getLogger(__name__)


def make_metrics_url(endpoint: str) -> str:
    return make_otlp_url(endpoint, _PATH)


async def export_metrics(metrics: Metrics, settings: Settings, every: float = EVERY_SECONDS) -> None:
    """Send the metrics for ever, every `every` seconds, and once more when it is cancelled; nothing without an
    endpoint.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """
    if not settings.telemetry.metric_endpoint:
        return
    export = MetricExport(metrics, settings)
    try:
        while True:
            await asyncio.sleep(every)
            await asyncio.to_thread(export.send)
    finally:
        export.close()


class MetricExport:
    """Export of the metrics of one process."""

    def __init__(self, metrics: Metrics, settings: Settings) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        except ImportError as error:
            raise MissingExtra("Metrics by OpenTelemetry", "traces") from error
        quiet_libraries()
        url = make_metrics_url(settings.telemetry.metric_endpoint)
        self._registry, self._began = metrics.registry, time.time_ns()
        self._exporter = OTLPMetricExporter(endpoint=url, timeout=SEND_SECONDS)
        self._reached = Reachability("metrics", url)

    def send(self) -> None:
        """Send the present counts. It blocks; a failed attempt is skipped, and the next one includes its counts."""
        from opentelemetry.sdk.metrics.export import MetricExportResult

        try:
            sent = self._exporter.export(convert_metrics(self._registry, self._began)) is MetricExportResult.SUCCESS
        # Any error of the library: the service continues.
        except Exception:
            sent = False
        self._reached.note_attempt(sent=sent)

    def close(self) -> None:
        """Send the last counts, within a moment."""
        if not self._reached.failing:
            # A daemon: a hanging thread does not keep the process alive.
            last = threading.Thread(target=self.send, daemon=True)
            last.start()
            last.join(STOP_SECONDS)


def convert_metrics(registry: CollectorRegistry, began: int) -> MetricsData:
    """Convert the content of a prometheus-client registry to OpenTelemetry's data.

    Args:
        began: the start of the counters, in nanoseconds since 1970.
    """
    from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    now = time.time_ns()
    found = [_convert_metric(family, began, now) for family in registry.collect()]
    scope = ScopeMetrics(InstrumentationScope("argot", __version__), found, "")
    about = Resource({"service.name": "argot", "service.version": __version__})
    return MetricsData([ResourceMetrics(about, [scope], "")])


def _convert_metric(family: Any, began: int, now: int) -> Metric:
    from opentelemetry.sdk.metrics.export import AggregationTemporality, Gauge, Histogram, Metric, Sum

    unit = next((unit for end, unit in _UNITS.items() if family.name.endswith(end)), "")
    since_start = AggregationTemporality.CUMULATIVE
    if family.type == "histogram":
        data: Any = Histogram(_convert_histogram(family.samples, began, now), since_start)
    elif family.type == "counter":
        counts = (one for one in family.samples if one.name.endswith("_total"))
        data = Sum(_number_points(counts, began, now), since_start, is_monotonic=True)
    else:
        data = Gauge(_number_points(family.samples, began, now))
    return Metric(family.name, family.documentation, unit, data)


def _number_points(samples: Iterable[Sample], began: int, now: int) -> list[NumberDataPoint]:
    from opentelemetry.sdk.metrics.export import NumberDataPoint

    return [NumberDataPoint(dict(one.labels), began, now, one.value) for one in samples]


def _convert_histogram(samples: Iterable[Sample], began: int, now: int) -> list[HistogramDataPoint]:
    """Convert one histogram for each set of labels. Prometheus' buckets count everything below their bound,
    OpenTelemetry's only the range since the previous one.
    """
    from opentelemetry.sdk.metrics.export import HistogramDataPoint

    series: dict[frozenset[tuple[str, str]], dict[str, Any]] = {}
    for one in samples:
        labels = {name: value for name, value in one.labels.items() if name != "le"}
        known = series.setdefault(frozenset(labels.items()), {"labels": labels, "below": {}, "sum": 0.0})
        if one.name.endswith("_bucket"):
            known["below"][float(one.labels["le"])] = int(one.value)
        elif one.name.endswith("_sum"):
            known["sum"] = one.value
    points = []
    for known in series.values():
        bounds, counts = _split_buckets(known["below"])
        unknown: Any = None  # minimum and maximum, which the protocol makes optional
        points.append(
            HistogramDataPoint(known["labels"], began, now, sum(counts), known["sum"], counts, bounds, unknown, unknown)
        )
    return points


def _split_buckets(below: Mapping[float, int]) -> tuple[list[float], list[int]]:
    """Return the bounds except infinity, and the count in each bucket."""
    bounds = sorted(below)
    counts = [below[bound] - (below[bounds[place - 1]] if place else 0) for place, bound in enumerate(bounds)]
    return bounds[:-1], counts

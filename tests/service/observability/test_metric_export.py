"""Tests of metrics sent to an OpenTelemetry endpoint: equal to /metrics, bucket by bucket; and of its failure."""

import asyncio
import json
import logging
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from otlp_receiver import Receiver, attributes, receiving

from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.telemetry_check import check_telemetry
from argot.service.observability.metric_export import MetricExport, export_metrics
from argot.service.observability.metrics import Metrics
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.types import Principal

DASHBOARD = Path(__file__).parents[3] / "deploy" / "grafana" / "argot.json"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def sample(metrics: Metrics, name: str, **labels: str) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


async def test_exported_metrics_equal_those_of_the_metrics_page(
    tiny_home: Path, tmp_path: Path, receiver: Receiver
) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        kb.metrics = metrics = Metrics()
        for question in ("How much does a late tariff filing cost?", "What is a zzqv?"):
            await get_answer(ask(kb, Principal("ann"), question=question))
        await asyncio.to_thread(MetricExport(metrics, Settings(metric_endpoint=receiver.url)).send)
    assert receiver.paths == ["/v1/metrics"] and b"tariff" not in receiver.bodies[0]
    sent = receiver.metrics
    counted = {tuple(attributes(one).items()): one.as_double for one in sent["argot_questions"].sum.data_points}
    assert counted and all(
        value == sample(metrics, "argot_questions_total", **dict(labels)) for labels, value in counted.items()
    )
    assert sum(counted.values()) == 2 and sent["argot_questions"].sum.is_monotonic
    (point,) = sent["argot_answer_seconds"].histogram.data_points
    assert sent["argot_answer_seconds"].unit == "s" and not point.HasField("min") and point.count == 2
    below = 0
    for bound, count in zip(point.explicit_bounds, point.bucket_counts, strict=False):
        below += count
        bucket = {"surface": "command", "le": str(float(bound))}
        assert below == sample(metrics, "argot_answer_seconds_bucket", **bucket)
    assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
    assert sent["process_resident_memory_bytes"].gauge.data_points[0].as_double > 1e6
    names = {family.name for family in metrics.registry.collect()}
    assert names == set(sent) | {name for name in names if name not in sent and not any_sample(metrics, name)}


def any_sample(metrics: Metrics, name: str) -> bool:
    return any(family.samples for family in metrics.registry.collect() if family.name == name)


async def test_metrics_are_exported_regularly_and_once_more_at_the_end(receiver: Receiver) -> None:
    metrics = Metrics()
    sending = asyncio.create_task(export_metrics(metrics, Settings(metric_endpoint=receiver.url), every=0.01))
    while len(receiver.bodies) < 2:  # noqa: ASYNC110  it is another thread that receives
        await asyncio.sleep(0.01)
    metrics.misses.inc()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    assert receiver.metrics["argot_missed_terms"].sum.data_points[0].as_double == 1
    await export_metrics(metrics, Settings())  # without an endpoint it ends at once


def test_an_unreachable_metrics_endpoint_is_logged_once(receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    export = MetricExport(Metrics(), Settings(metric_endpoint=receiver.url))
    receiver.code = 400
    with caplog.at_level(logging.WARNING):
        export.send()
        export.send()
        began = time.monotonic()
        export.close()  # stopping does not wait for the endpoint
        assert time.monotonic() - began < 60
        receiver.code = 200
        export.send()
    assert [one.message.partition(" 127")[0] for one in caplog.records] == ["metrics do not reach", "metrics reach"]


def test_doctor_says_whether_the_endpoint_accepts_metrics(receiver: Receiver) -> None:
    def found(endpoint: str) -> tuple[bool, str]:
        _, one = check_telemetry(Settings(metric_endpoint=endpoint))
        return one["ok"], one["detail"]

    assert found("") == (True, "sent nowhere (docs/insight.md)")
    assert found(receiver.url) == (True, f"{receiver.url}/v1/metrics answers")
    receiver.code = 401
    ok, detail = found(receiver.url)
    assert not ok and "401" in detail
    ok, detail = found("http://user:hidden-word@127.0.0.1:9")
    assert not ok and "hidden-word" not in detail


def test_the_dashboard_uses_only_existing_metrics_and_labels() -> None:
    metrics = Metrics()
    labels: dict[str, set[str]] = {}
    for name, held in vars(metrics).items():
        if name not in ("registry", "last_model_failure"):
            family: Any = next(iter(held.describe()))
            ends = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
            labels |= {family.name + end: {*held._labelnames, "le", "instance", "job"} for end in ends}
    process = {one.name: set() for family in metrics.registry.collect() for one in family.samples}
    queries = [target["expr"] for panel in panels() for target in panel.get("targets", ())]
    assert len(queries) > 15
    for query in queries:
        named = set(re.findall(r"\b(?:argot|process)_\w+", query))
        assert named and named <= labels.keys() | process.keys(), query
        known = set().union(*(labels.get(name, {"instance", "job"}) for name in named))
        by = {one.strip() for found in re.findall(r"by \(([^)]*)\)", query) for one in found.split(",")}
        matched = set(re.findall(r"(\w+)=~?\"", query))
        assert by | matched <= known, query


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells


def panels() -> list[dict[str, Any]]:
    return list(json.loads(DASHBOARD.read_text("utf-8"))["panels"])

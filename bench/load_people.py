"""The people of a load test, for locust: each has a conversation and asks at intervals over `/api/ask`.

Started by load.py, which sets LOAD (a JSON file: keys, questions, every, seconds, first, reply, report). Each
question's figures go to the report as a line of JSON. `own` is the wait for the first word minus the model's fixed
share: one `reply` for every round of calls before the answer, and `first`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from pathlib import Path
from typing import Any

from locust import HttpUser, task
from locust.exception import StopUser

LOAD: dict[str, Any] = json.loads(Path(os.environ["LOAD"]).read_text("utf-8"))
SIDE_BY_SIDE = ("identify_jargon", "identify_context")
_until = time.time() + LOAD["seconds"]
_numbers = itertools.count()
_report = Path(LOAD["report"]).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115  as long as the process


class Person(HttpUser):
    """One conversation. The first question comes at a random moment of the interval, so that people are spread out."""

    def on_start(self) -> None:
        self.number = next(_numbers)
        self.thread = ""
        self.asked = random.Random(self.number)
        self.due = time.monotonic() + self.asked.uniform(0, LOAD["every"])

    @task
    def ask(self) -> None:
        import gevent

        gevent.sleep(max(0.0, self.due - time.monotonic()))
        self.due += LOAD["every"]
        if time.time() > _until:
            raise StopUser
        question = self.asked.choice(LOAD["questions"])
        body = {"question": question} | ({"thread": self.thread} if self.thread else {})
        keys = LOAD["keys"]
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {keys[self.number % len(keys)]}"}
        began = time.perf_counter()
        told: dict[str, Any] = {"at": time.time(), "first": None, "error": ""}
        url = f"{LOAD['urls'][self.number % len(LOAD['urls'])]}/api/ask"
        with self.client.post(url, json=body, headers=headers, stream=True, catch_response=True) as answer:
            try:
                result = self._read_stream(answer, began, told)
            except Exception as error:
                result, told["error"] = {}, f"{type(error).__name__}: {error}"
            told |= {"seconds": time.perf_counter() - began, "status": result.get("status", "")}
            if told["error"]:
                answer.failure(told["error"])
            else:
                answer.success()
        self.thread = result.get("thread") or self.thread
        if told["first"] is not None:
            told["own"] = told["first"] - _sum_model_share(result.get("model_calls", []))
        _report.write(json.dumps(told) + "\n")

    def _read_stream(self, answer: Any, began: float, told: dict[str, Any]) -> dict[str, Any]:
        if answer.status_code != 200:
            told["error"] = f"status {answer.status_code}: {answer.text[:200]}"
            return {}
        kind = ""
        # None: whatever has arrived. A larger number would wait for more, and 1 would occupy a processor.
        for raw in answer.iter_lines(chunk_size=None):
            line = raw.decode("utf-8")
            if line.startswith("event: "):
                kind = line[7:]
                if kind == "token" and told["first"] is None:
                    told["first"] = time.perf_counter() - began
            elif line.startswith("data: ") and kind in {"result", "error"}:
                data: dict[str, Any] = json.loads(line[6:])
                told["error"] = str(data) if kind == "error" else ""
                return data
        told["error"] = "the stream ended without a result"
        return {}


def _sum_model_share(calls: list[dict[str, Any]]) -> float:
    """Return the time that a model of this speed takes before the first word, regardless of the application."""
    prompts = [call["prompt"] for call in calls]
    before = [
        one
        for one in prompts[: _find_answer_place(prompts)]
        if one != SIDE_BY_SIDE[1] or SIDE_BY_SIDE[0] not in prompts
    ]
    return float(len(before) * LOAD["reply"] + LOAD["first"])


def _find_answer_place(prompts: list[str]) -> int:
    return next((place for place, one in enumerate(prompts) if "answer" in one), len(prompts))

"""Tests of the OpenAPI document: no request causes a server error, or a status or form that it does not name."""

import asyncio
import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from api_site import URL, Site
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.access_tokens import MCP_PATH
from argot.settings import Settings
from argot.ui.api import openapi
from argot.ui.api.api_routes import OPENAPI_PATH, build_api_routes
from argot.ui.api.openapi import RETRY_HEADERS
from argot.ui.web.api_errors import SCIM_ROOT
from argot.ui.web.authorization import is_for_programs

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 4
"""Of each kind, for each operation."""
LONGEST_ADDRESS = 60_000


class _Alone:
    """The settings, which are all that the description of the addresses needs."""

    settings = Settings()


DOCUMENT = json.loads(json.dumps(openapi.build_document(build_api_routes(_Alone()).routes)))  # type: ignore[arg-type]
OPERATIONS = {one.ok().label: one.ok() for one in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()}


class Served:
    """The application in an event loop of its own, for tests without one."""

    def __init__(self, home: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        given = Settings(home=home, questions_per_minute=0)
        self.kb = KnowledgeBase.open(home, given)
        self.kb.people.add("root")
        self.kb.people.set_role("root", "admin")
        self.site = Site(self.kb)
        transport = httpx.ASGITransport(self.site.guard, raise_app_exceptions=False)
        self.client = httpx.AsyncClient(
            transport=transport, headers={"Authorization": f"Bearer {self.site.key('root')}"}
        )

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(300)

    def send(self, asked: requests.PreparedRequest) -> httpx.Response:
        assert asked.method and asked.url
        headers = {name: value for name, value in asked.headers.items() if name.lower() != "authorization"}
        answer: httpx.Response = self.run(
            self.client.request(asked.method, asked.url, headers=headers, content=asked.body)  # type: ignore[arg-type]
        )
        return answer

    def close(self) -> None:
        self.run(self.client.aclose())
        self.run(self.kb.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture(scope="module")
def served(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("truth") / "kb")))
    yield served
    served.close()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("label", OPERATIONS)
def test_every_request_is_answered_as_documented(served: Served, label: str, mode: GenerationMode) -> None:
    operation = OPERATIONS[label]
    if mode is GenerationMode.NEGATIVE and not (operation.query or operation.body or operation.path_parameters):
        return

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def sent(case: Any) -> None:
        asked = requests.Request(**case.as_transport_kwargs(base_url=URL)).prepare()
        if len(asked.url or "") < LONGEST_ADDRESS:  # servers refuse longer addresses themselves
            case.validate_response(served.send(asked), checks=CHECKS)

    sent()


def test_the_openapi_document_is_public_and_names_every_api_address(served: Served) -> None:
    answer = served.run(served.client.get(f"{URL}{OPENAPI_PATH}", headers={"Authorization": ""}))
    assert answer.json() == DOCUMENT
    named = {(method.upper(), path) for path, found in DOCUMENT["paths"].items() for method in found}
    there = {(one.method, one.path) for one in served.site.guard.addresses.entries if is_for_programs(one.path)}
    # SCIM and MCP describe their own addresses, each in its own format.
    described = {one for one in there if one[1] not in (OPENAPI_PATH, MCP_PATH) and not one[1].startswith(SCIM_ROOT)}
    assert described == named
    for path, found in DOCUMENT["paths"].items():
        for method, told in found.items():
            assert told.get("description") and told.get("tags"), (method, path)
            assert "401" in told["responses"], (method, path)


def test_the_openapi_document_can_be_read_by_client_generators() -> None:
    """Check that every reference exists, and that every operation has a short unique name and a summary."""
    text = json.dumps(DOCUMENT)
    schemas = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(re.findall(r'"\$ref": "([^"]+)"', text)) <= schemas
    operations = [told for found in DOCUMENT["paths"].values() for told in found.values()]
    names = [told["operationId"] for told in operations]
    assert len(set(names)) == len(names)
    assert {name for name in names if "_api_" in name or "_v1_" in name} == set()
    for told in operations:
        assert 5 < len(told["summary"]) <= 110 and told["summary"].split()[0] in told["description"]
        assert "Retry-After" in told["responses"].get("429", {"headers": RETRY_HEADERS})["headers"]


@pytest.mark.parametrize("path", openapi.EXAMPLES)
def test_documented_examples_are_accepted(served: Served, path: str) -> None:
    given = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
    if "thread" in given:
        asked = served.run(served.client.post(f"{URL}/api/ask", json={"question": "What is PUC?"})).json()
        given = {**given, "thread": asked["thread"]}
    if "context" in given:
        given = {**given, "context": "NAND"}
    answer = served.run(served.client.post(f"{URL}{path}", json=given))
    assert answer.status_code == 200, answer.text

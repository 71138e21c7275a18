"""Fixtures of the Slack tests that have a language model: one workspace per module, reset before each test.

A module that names this in `pytest_plugins` has a fixture `shared`: the `workspace_with_model` and its people.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from scripted_server import ScriptedServer
from slack_service import Service, answering, workspace

from argot.slack.app import stream as stream_module
from argot.slack.app.stream import Streaming


@pytest.fixture
def model(shared_model: ScriptedServer) -> ScriptedServer:
    return answering(shared_model)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace_with_model(
    tiny_home: Path, tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedServer
) -> AsyncIterator[Service]:
    patient = {"model_url": shared_model.url, "model_first_token_seconds": 60}
    async with workspace(tiny_home, tmp_path_factory.mktemp("slack"), **patient) as service:
        yield service


@pytest_asyncio.fixture(loop_scope="module")
async def slack(shared: Service, model: ScriptedServer) -> AsyncIterator[Service]:
    """Return the service, without faults."""
    shared.fake.heal()
    shared.fake.log.clear()
    shared.running.answering.posting.native, shared.running.answering.streaming = True, Streaming()
    yield shared
    shared.fake.heal()
    await shared.quiet()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let streams begin with the first word."""
    monkeypatch.setattr(stream_module, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(stream_module, "EACH_SECONDS", 0.0)

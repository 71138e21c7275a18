"""Glossaries on both engines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from glossary_engines import ENGINES, Glossaries, GlossaryServer


@pytest.fixture(scope="session")
def glossary_server(postgresql_server: Any) -> Iterator[GlossaryServer]:
    server = GlossaryServer(postgresql_server)
    yield server
    server.close()


@pytest.fixture(params=ENGINES)
def glossaries(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Glossaries]:
    """Return the glossaries of a test, on each engine."""
    server = request.getfixturevalue("glossary_server") if request.param == "postgresql" else None
    opened = Glossaries(request.param, tmp_path, server)
    yield opened
    opened.close()

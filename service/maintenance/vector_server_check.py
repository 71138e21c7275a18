"""Check of the Chroma server for `argot doctor`, if the settings name one."""

from __future__ import annotations

from collections.abc import Iterator

from argot.corpus.index.chroma_server import ChromaServer, ServerAddress
from argot.errors import InvalidSettings, VectorsUnavailable
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.settings import Settings

NAME = "vector server"
_START = "start it (chroma run), or correct ARGOT_CHROMA_URL; until then, questions are answered by words alone"


def check_vector_server(settings: Settings) -> Iterator[Finding]:
    """Nothing where the vectors lie in the knowledge base."""
    if not settings.storage.chroma_url:
        return
    try:
        address = ServerAddress.of(settings.storage.chroma_url)
    except InvalidSettings as error:
        yield make_bad_finding(NAME, str(error), "correct ARGOT_CHROMA_URL")
        return
    server = ChromaServer(address, settings.storage.chroma_seconds, "argot reindex")
    try:
        version = server.version(quick=True)
        yield make_good_finding(NAME, f"Chroma at {address.url} answers, by version {version} of its interface")
    except VectorsUnavailable as error:
        yield make_bad_finding(NAME, str(error), _START)
    finally:
        server.close()

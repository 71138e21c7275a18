"""The model server as the rest of Argot sees it: one `ModelServer` per process, one `Model` per run of the graph.

Every call is bounded in time and length, asked again only where nothing was received, and recorded. Every failure is a
`ModelUnavailable` whose one sentence may be shown to the asker.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache

from argot.results import ModelCall
from argot.setting_groups import ModelServerSettings
from argot.settings import Settings
from argot.tools.llm.address import parse_address
from argot.tools.llm.capabilities import ServerInfo, probe
from argot.tools.llm.endpoint import OFFER_SECONDS, Endpoint
from argot.tools.llm.faults import ContextOverflow
from argot.tools.llm.session import Model

__all__ = ["ContextOverflow", "Model", "ModelServer", "ServerInfo", "forget_servers"]


@dataclass(eq=False, repr=False)
class ModelServer(Endpoint):
    """An endpoint with sessions for runs, and a description of its abilities."""

    _described: tuple[ServerInfo, float] | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> ModelServer | None:
        """Return the process's one server of these settings; None if no model is to be used.

        Raises:
            InvalidSettings: the URL is invalid.
        """
        return _get_server(_ServerKey(settings.model_server, settings)) if settings.model_server.url.strip() else None

    def session(self, calls: list[ModelCall]) -> Model:
        """Return one run's use of the server; each call is appended to `calls`."""
        return Model(self, calls)

    async def describe(self) -> ServerInfo:
        """Return the server's abilities, detected by small requests; cached as long as the list of its models is.

        Raises:
            ModelUnavailable: it does not answer them within the limits of a call.
        """
        info, at = self._described or (None, 0.0)
        # Also if a call has found out since that another model is served.
        if info is None or time.monotonic() - at >= OFFER_SECONDS or (self.known and self.known.model != info.model):
            await self.load()
            try:
                info = await probe(self)
            except Exception as error:
                raise self.fault(error).error() from None
            self._described = info, time.monotonic()
        return info


@dataclass(frozen=True)
class _ServerKey:
    """A server and its bounds: other settings may change without a second pool of connections."""

    server: ModelServerSettings
    settings: Settings = field(compare=False)


@lru_cache(maxsize=8)
def _get_server(key: _ServerKey) -> ModelServer:
    return ModelServer(key.settings, parse_address(key.server.url))


def forget_servers() -> None:
    """Make the next `from_settings` start afresh, as in a new process; for tests."""
    _get_server.cache_clear()

"""Calls to Slack's Web API: keeps its rate limits, and tells failures that pass from refusals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from argot.slack.slack_check import is_on_this_machine

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from argot.settings import Settings

logger = logging.getLogger(__name__)

CALL_SECONDS = 15
MAX_WAIT_SECONDS = 120.0
"""Slack names a time to wait; if these together are more, the call is given up for now."""


class SlackUnreachable(Exception):
    """Slack did not answer, or reported that it is temporarily unavailable. Trying again later may help."""


class SlackRefused(Exception):
    """Slack refused the request. `code` is its word for why."""

    def __init__(self, code: str, needed: str = "") -> None:
        self.code = code
        self.needed = needed
        super().__init__(f"{code} (needs the scope {needed})" if needed else code)


class Calls:
    """The Web API's client, and the one way to use it: `await calls(client.chat_postMessage, channel=...)`."""

    def __init__(self, client: AsyncWebClient) -> None:
        self.client = client

    @classmethod
    def from_settings(cls, settings: Settings) -> Calls:
        from slack_sdk.web.async_client import AsyncWebClient

        quiet = logging.getLogger("argot.slack_sdk")
        quiet.setLevel(logging.WARNING)  # below that it logs people's questions
        client = AsyncWebClient(
            token=settings.slack.bot_token.get_secret_value(),
            base_url=settings.slack.api_url,
            timeout=CALL_SECONDS,
            logger=quiet,
            retry_handlers=[],  # one that posts again after a lost answer posts twice
        )
        if is_on_this_machine(settings.slack.api_url):
            client.proxy = None  # the client takes the environment's proxy for whatever address
        return cls(client)

    async def __call__(self, method: Callable[..., Awaitable[Any]], /, **arguments: Any) -> Mapping[str, Any]:
        """Call a method, and return Slack's answer.

        Raises:
            SlackUnreachable, SlackRefused
        """
        return await self._call(method, arguments, MAX_WAIT_SECONDS)

    async def _call(
        self, method: Callable[..., Awaitable[Any]], arguments: Mapping[str, Any], most_wait: float
    ) -> Mapping[str, Any]:
        import aiohttp
        from slack_sdk.errors import SlackApiError, SlackClientError

        waited = 0.0
        while True:
            try:
                response: Mapping[str, Any] = await method(**arguments)
                return response
            except SlackApiError as error:
                seconds = _retry_after(error)
                if seconds is None:
                    raise _describe_failure(error) from error
                waited += seconds
                if waited > most_wait:
                    raise SlackUnreachable(f"Slack wants us to wait for {seconds:.0f} s") from error
                logger.info("Slack wants us to wait for %.0f s", seconds)
                await asyncio.sleep(seconds)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise SlackUnreachable(f"{type(error).__name__}: {error}") from error
            # The client's own refusals, as of a response that is no JSON. Last: `SlackApiError` is one of them.
            except SlackClientError as error:
                raise SlackRefused(str(error)) from error

    async def try_call(self, method: Callable[..., Awaitable[Any]], /, **arguments: Any) -> Mapping[str, Any] | None:
        """Make a call that is only a courtesy: Return None if it failed."""
        return await self._try_call(method, arguments, MAX_WAIT_SECONDS)

    async def try_call_at_once(
        self, method: Callable[..., Awaitable[Any]], /, **arguments: Any
    ) -> Mapping[str, Any] | None:
        """Make a call that must not delay an answer: return None also if Slack asks to wait."""
        return await self._try_call(method, arguments, 0.0)

    async def _try_call(
        self, method: Callable[..., Awaitable[Any]], arguments: Mapping[str, Any], most_wait: float
    ) -> Mapping[str, Any] | None:
        try:
            return await self._call(method, arguments, most_wait)
        except (SlackUnreachable, SlackRefused) as error:
            logger.info("%s: %s", getattr(method, "__name__", "a call"), error)
            return None


def _retry_after(error: Any) -> float | None:
    """Return the seconds to wait, if that is all that is wrong."""
    response = error.response
    # Some methods say it in the status, others in the body alone.
    limited = _read_status(response) == 429 or _read_code(response) in ("ratelimited", "rate_limited")
    if not limited:
        return None
    headers = getattr(response, "headers", None) or {}
    named = next((value for name, value in headers.items() if name.lower() == "retry-after"), "1")
    try:
        return max(0.0, float(named))
    except ValueError:
        return 1.0


def _describe_failure(error: Any) -> Exception:
    response = error.response
    status, code = _read_status(response), _read_code(response)
    if status >= 500 or not code or code in ("internal_error", "fatal_error", "service_unavailable", "request_timeout"):
        return SlackUnreachable(f"Slack answers with {status or 'nothing of use'} {code}".strip())
    return SlackRefused(code, str(_read_data(response).get("needed") or ""))


def _read_status(response: Any) -> int:
    return int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)


def _read_code(response: Any) -> str:
    return str(_read_data(response).get("error") or "")


def _read_data(response: Any) -> Mapping[str, Any]:
    data = getattr(response, "data", None)
    return data if isinstance(data, dict) else {}

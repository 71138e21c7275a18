"""The HTTP client of the model server: one event loop's connection pool, JSON requests, and streams of events.

Argot's own client on httpx instead of `openai` and LangChain's: those build several objects for each token, which under
load was most of Argot's processor time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import time
import zlib
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Self

import httpx

from argot.settings import Settings
from argot.tools.llm.address import ModelAddress
from argot.tools.llm.faults import StatusError, WrongAnswer
from argot.tools.llm.limits import MAX_BODY_BYTES, BodyTooLarge
from argot.tools.llm.sse import EventParser

for _library in ("httpx", "httpcore"):
    logging.getLogger(_library).setLevel(logging.WARNING)  # at DEBUG they log whole requests with their prompts

REQUEST_ID = "x-request-id"
"""Identifies a call: vLLM uses it as the request's own id, and logs it."""
MAX_CONNECTIONS = 1000
MAX_IDLE_CONNECTIONS = 100
DONE_EVENT = b"[DONE]"
"""The last event of a stream in OpenAI's interface."""
DRAIN_SECONDS = 0.1
"""Timeout for reading HTTP data after the last event: only then can the connection serve the next call."""
GATHER_SECONDS = 0.05
"""Reading token by token would wake the process 150 times a second for each answer, so reads wait for several."""
MAX_UNGATHERED_READS = 16
"""Number of reads at the beginning of a stream that do not wait, so that the first words arrive at once."""
WAITED_SECONDS = 0.001
"""A longer read had to wait for data, so no more is buffered."""
# zlib reads the header of gzip where 16 is added.
WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
COMPRESSION_CLAUSE = "sent what cannot be read: a compression that is broken or unknown"


class ModelClient:
    """One event loop's connections to the server. `asking` serves requests that one call makes for all."""

    def __init__(self, settings: Settings, address: ModelAddress) -> None:
        self._address = address
        self.asking = asyncio.Lock()
        key = settings.model_server.key.get_secret_value()
        self._http = httpx.AsyncClient(
            headers={"accept-encoding": "identity", **({"authorization": f"Bearer {key}"} if key else {})},
            timeout=httpx.Timeout(settings.model_server.call_seconds, connect=settings.model_server.connect_seconds),
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_IDLE_CONNECTIONS),
            trust_env=not address.local,  # HTTP_PROXY and similar variables would route requests away from this machine
            verify=_load_certificates() if address.api.startswith("https") else False,
            follow_redirects=False,  # a redirect would carry the prompt to a server that nobody configured
        )

    async def request(self, method: str, url: str, body: Any = None) -> Any:
        """Send a request that is answered by JSON as a whole, such as the list of models; return the decoded JSON.

        Raises:
            StatusError: the status is not 200.
            WrongAnswer: the reply is no JSON.
            BodyTooLarge: the reply exceeds the limit.
            httpx.HTTPError: the connection failed.
        """
        response = await self._send(method, url, body, "application/json")
        try:
            return json.loads(b"".join([data async for data in _decompress(response)]))
        except (ValueError, RecursionError):
            raise WrongAnswer("sent broken JSON") from None
        finally:
            await response.aclose()

    async def stream(self, body: dict[str, Any], request_id: str, *, gathers: bool = False) -> ServerSentEvents:
        """Return a chat completion as the server writes it. Closing the stream tells the server to stop.

        Args:
            body: the request, without `stream`.
            request_id: the server's id for it.
            gathers: reads may be a few hundredths of a second apart, because a person reads the stream.

        Raises:
            StatusError: the server refuses it.
            WrongAnswer: this is no stream of events.
            httpx.HTTPError: the connection failed.
        """
        url = f"{self._address.api}/chat/completions"
        response = await self._send("POST", url, {**body, "stream": True}, "text/event-stream", request_id)
        return ServerSentEvents(response, gathers=gathers)

    async def order(self, url: str, body: Any) -> None:
        """Send a request whose reply only acknowledges it, in any form.

        Raises:
            StatusError: the status is not 200.
            httpx.HTTPError: the connection failed.
        """
        response = await self._send("POST", url, body, "*/*")
        await response.aclose()

    async def _send(self, method: str, url: str, body: Any, media_type: str, request_id: str = "") -> httpx.Response:
        """Return the response after checking its status, compression and content type."""
        headers = {"accept": media_type, **({REQUEST_ID: request_id} if request_id else {})}
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")  # half characters cannot be sent
        request = self._http.build_request(method, url, content=content, headers=headers)
        response = await self._http.send(request, stream=True)
        try:
            await _check(response, media_type)
        except BaseException:  # a cancelled call, too, has to return its connection
            await response.aclose()
            raise
        return response

    async def aclose(self) -> None:
        await self._http.aclose()


class ServerSentEvents:
    """The data of a response's server-sent events, in order, until [DONE] or the end of the body."""

    def __init__(self, response: httpx.Response, *, gathers: bool = False) -> None:
        self._response = response
        self._gathers = gathers
        self._ungathered = MAX_UNGATHERED_READS
        self._waited = False
        self._body = _decompress(response)
        self._parser = EventParser()
        self._events: deque[bytes] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._events:
            self._events.extend(self._parser.feed(await self._read()))
        event = self._events.popleft()
        if event.startswith(DONE_EVENT):
            await self._drain()
            raise StopAsyncIteration
        return event

    async def _read(self) -> bytes:
        """Return the next bytes. After a read that had to wait it sleeps first, so that the next one returns several
        tokens.
        """
        self._ungathered -= 1
        if self._gathers and self._waited and self._ungathered < 0:
            await asyncio.sleep(GATHER_SECONDS)
        began = time.monotonic()
        data = await anext(self._body)
        self._waited = time.monotonic() - began > WAITED_SECONDS
        return data

    @property
    def is_waiting(self) -> bool:
        """True if the next event must be waited for, because the buffer is empty."""
        return not self._events

    @property
    def holds_more(self) -> bool:
        """True if the next event has been read already, and is not the end."""
        return bool(self._events) and not self._events[0].startswith(DONE_EVENT)

    async def aclose(self) -> None:
        await self._response.aclose()

    async def _drain(self) -> None:
        with suppress(httpx.HTTPError, TimeoutError):  # the answer is complete; only its connection is not reused
            async with asyncio.timeout(DRAIN_SECONDS):
                async for _ in self._response.stream:  # type: ignore[union-attr]  # sync streams are of sync clients
                    pass


async def _check(response: httpx.Response, media_type: str) -> None:
    """Check the head of a response.

    Raises:
        StatusError: the status is not 200.
        WrongAnswer: the compression cannot be bounded, or the content is not of the wanted type.
    """
    if _read_coding(response) not in {"", "identity", *WINDOWS}:
        raise WrongAnswer(COMPRESSION_CLAUSE)
    if response.status_code != 200:
        body = b"".join([data async for data in _decompress(response)])
        raise StatusError(response.status_code, body.decode(errors="replace"))
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in (kind, "*/*"):
        return
    raise WrongAnswer(
        "does not stream its answers"
        if kind == "application/json"
        else "answers with a page, not as a model server: see ARGOT_MODEL_URL"
    )


async def _decompress(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body as it arrives, decompressed and bounded. httpx's own decoding would inflate a bomb first."""
    inflate = Inflater(_read_coding(response))
    async for data in response.aiter_raw():
        try:
            yield inflate(data)
        except zlib.error:
            raise WrongAnswer(COMPRESSION_CLAUSE) from None


class Inflater:
    """A body's bytes, decompressed, and never more than MAX_BODY_BYTES of them.

    Decompressed here because a few kilobytes of gzip can hold gigabytes, which a limit on the received bytes would not
    stop.
    """

    def __init__(self, encoding: str) -> None:
        self._left = MAX_BODY_BYTES
        self._inflate = zlib.decompressobj(WINDOWS[encoding]) if encoding in WINDOWS else None

    def __call__(self, data: bytes) -> bytes:
        # One byte more than allowed shows that there are too many.
        plain = self._inflate.decompress(data, self._left + 1) if self._inflate else data
        self._left -= len(plain)
        if self._left < 0:
            raise BodyTooLarge
        return plain


def _read_coding(response: httpx.Response) -> str:
    return str(response.headers.get("content-encoding", "")).strip().lower()


def _load_certificates() -> ssl.SSLContext:
    """Return the system's certificates, or those of SSL_CERT_FILE and SSL_CERT_DIR, which include an organisation's
    own.

    httpx by itself trusts only its bundled list, which is the fallback if the system has none.
    """
    paths = ssl.get_default_verify_paths()
    return ssl.create_default_context() if paths.cafile or paths.capath else httpx.create_ssl_context()

"""One event loop's connections to the model server: an HTTP pool, and the `ChatOpenAI` that speaks through it.

Importing this takes more than a second (openai, langchain_openai): import it where it is needed, not at a module's top.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import re
import warnings
import zlib
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import openai
from langchain_openai import ChatOpenAI

from argot.settings import Settings
from argot.tools.model.address import Address
from argot.tools.model.bounds import WINDOWS, EventBound, Inflater
from argot.tools.model.faults import WrongAnswer

for _tracing in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2"):
    os.environ[_tracing] = "false"  # no trace of a prompt leaves the machine, also where the graph is not used

HTTP: Any = importlib.import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
"""The HTTP library openai itself stands on (httpx, or its successor)."""
CALL_HEADER = "x-request-id"
"""Names a call to us, and to a vLLM that logs it."""
for _library in ("openai", "langchain_openai", "httpx", "httpcore", HTTP.__name__, HTTP.__name__.replace("x", "core")):
    logging.getLogger(_library).setLevel(logging.WARNING)  # at DEBUG they log whole requests, which hold prompts
warnings.filterwarnings("ignore", "Pydantic serializer warnings")  # quotes what a server sent of a wrong type
THINKING = re.compile(rb'"reasoning(?:_content)?"\s*:\s*"[^"]')
"""A thought in a field of its own, which LangChain passes over: it is not the answer, but a sign of work on it."""
NO_KEY = "none"
"""openai wants one even where the server does not."""


class _Body(HTTP.AsyncByteStream):  # type: ignore[misc]
    """A response's bytes, bounded."""

    def __init__(self, source: Any, encoding: str, *, events: bool, think: Callable[[], None]) -> None:
        self._source = source
        self._think = think
        self._inflate = Inflater(encoding)
        self._bound = EventBound() if events else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._source:
            try:
                plain = self._inflate(data)
            except zlib.error:
                raise WrongAnswer("sent what cannot be read: a compression that is broken or unknown") from None
            if self._bound is not None:
                self._bound.check(plain)
                if THINKING.search(plain):
                    self._think()
            yield plain

    async def aclose(self) -> None:
        await self._source.aclose()


class Connection:
    """`chat` and `http` share one pool.

    `open_responses` lets a call close its own response at once. `thinking` are the calls whose model thinks in a field
    of its own. `asking` is for what one asks for all.
    """

    def __init__(self, settings: Settings, address: Address) -> None:
        self._address = address
        self._key = settings.model_key.get_secret_value() or NO_KEY
        self.open_responses: dict[str, Any] = {}
        self.thinking: set[str] = set()
        self.asking = asyncio.Lock()
        self.http = openai.DefaultAsyncHttpxClient(
            trust_env=not address.local,
            verify=address.api.startswith("https"),
            follow_redirects=False,  # a redirect would carry the prompt to a server nobody named
            timeout=HTTP.Timeout(settings.model_seconds, connect=settings.model_connect_seconds),
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [self._look_at]},
        )
        self._chats: dict[str, ChatOpenAI] = {}

    def chat(self, model: str) -> ChatOpenAI:
        if model not in self._chats:
            self._chats[model] = ChatOpenAI(
                model=model,
                base_url=self._address.api,
                api_key=self._key,
                http_async_client=self.http,
                openai_proxy="",  # the pool above has the proxies of the environment
                max_retries=0,
                temperature=0,
                stream_chunk_timeout=0,
                verbose=False,
                cache=False,
            )
        return self._chats[model]

    async def _look_at(self, response: Any) -> None:
        """Bound what is read, and refuse what no model server sends, before openai reads it as one."""
        encoding = response.headers.pop("content-encoding", "").strip().lower()
        if encoding not in {"", "identity", *WINDOWS}:
            await response.aclose()
            raise WrongAnswer("sent what cannot be read: a compression that is broken or unknown")
        streamed = CALL_HEADER in response.request.headers
        call = response.request.headers.get(CALL_HEADER, "")
        is_reply = streamed and response.status_code == 200
        response.stream = _Body(response.stream, encoding, events=is_reply, think=partial(self.thinking.add, call))
        self.open_responses[call] = response
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code == 200 and kind != ("text/event-stream" if streamed else "application/json"):
            await response.aclose()
            raise WrongAnswer(
                "does not stream its answers"
                if kind == "application/json"
                else "answers with a page, not as a model server: see ARGOT_MODEL_URL"
            )

    async def close_call(self, call: str) -> None:
        """End a call's response, read or not: closing it is what tells the server to stop."""
        self.thinking.discard(call)
        response = self.open_responses.pop(call, None)
        if response is not None:
            await response.aclose()

    async def request(self, method: str, url: str, body: Any = None) -> Any:
        """A JSON request beside the chat, such as the list of models; the decoded JSON.

        Raises:
            WrongAnswer: what came is no JSON.
            Exception: of the HTTP library, with a `status_code` where the server gave one.
        """
        answer = await self.http.request(method, url, json=body, headers={"authorization": f"Bearer {self._key}"})
        self.open_responses.pop("", None)
        if answer.status_code != 200:
            raise StatusError(answer.status_code)
        try:
            return answer.json()
        except (ValueError, RecursionError):
            raise WrongAnswer("sent broken JSON") from None

    async def aclose(self) -> None:
        await self.http.aclose()


class StatusError(Exception):
    """The server answered a request with a status other than 200."""

    def __init__(self, status_code: int) -> None:
        self.status_code = status_code
        super().__init__(f"status {status_code}")

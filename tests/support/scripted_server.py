"""An OpenAI-compatible model server in a thread: real HTTP, real streaming, exactly the replies and faults of a test.

    scripted_model.reply("identify_jargon", {"terms": ["PUC"]})      # a dict is JSON; a callable gets the request
    scripted_model.replies("cited_answer", "First [1].", "Second.")  # one after the other, the last for ever
    scripted_model.fault("hang")                                     # see FAULTS; times=1, prompt="cited_answer"
    scripted_model.obedient = True                                   # follows any instruction in what it is given
    scripted_model.tokenizes = scripted_model.lists_models = False   # has no such endpoints
    settings = scripted_model.settings(model_seconds=0.5)            # or vision_url=..., and `pictures`
    scripted_model.requests[-1].gone                                 # the client hung up before the reply was done

A prompt is recognised by its system text. What is not scripted is answered with the least the schema allows, or with
`DEFAULT_TEXT`.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 120.0
"""Seconds after which a test gives up, on however busy a machine; nothing is measured by it."""
DEFAULT_TEXT = "The scripted model says nothing of use."
EVERYWHERE = ("hang", "html", "redirect", "gzip", "status", "garbage", "raw")
FAULTS = {
    "refuse": "nobody listens",
    "hang": "accepts and never answers",
    "slow": "first token only after `seconds`",
    "trickle": "one byte each `seconds`, which never makes a token",
    "status": "replies with the status `code`, and `message`",
    "cut": "closes the connection after `tokens`",
    "pause": "writes no more after `tokens`, until `heal()`",
    "end": "ends the stream properly after `tokens`, but before the reply is done",
    "error_event": "an error event in the stream after `tokens`",
    "invalid_json": "replies with words",
    "wrong_schema": "replies with JSON of another shape",
    "text": "replies with `text`",
    "blanks": "a brace, then blanks for ever",
    "loop": "the same sentence for ever",
    "empty": "a proper reply without any text",
    "event": "the `event` of the test's own in the stream, as raw text",
    "after": "the whole reply, then the raw bytes `more`, then no more; and hangs up where `hangs_up`",
    "raw": "the bytes `head`, and hangs up, or only `hangs`",
    "unstreamed": "the whole reply at once, as JSON",
    "overflow": "says that the prompt is too long",
    "unknown_model": "knows no such model",
    "no_schema": "refuses response_format",
    "no_pictures": "refuses messages with pictures",
    "no_tools": "refuses tools, with the status `code`",
    "ignores_tools": "replies with words where tools are offered",
    "ignores_schema": "wraps JSON in words and a fence, and only where the prompt's words ask for it",
    "no_stream_options": "refuses stream_options",
    "no_max_tokens": "refuses max_tokens, and wants max_completion_tokens",
    "no_logprobs": "refuses logprobs",
    "html": "a web page with status 200",
    "redirect": "sends to `location`",
    "gzip": "compresses its replies",
    "garbage": "bytes that are no HTTP",
    "huge": "a body without end",
}


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    prompt: str = ""
    gone: bool = False
    done: bool = False
    sent: list[str] = field(default_factory=list)
    at: float = field(default_factory=time.monotonic)

    @property
    def system(self) -> str:
        return self._said("system")

    @property
    def user(self) -> str:
        return self._said("user")

    @property
    def pictures(self) -> list[str]:
        """The data URLs of the pictures in its messages."""
        contents = [one["content"] for one in self.body.get("messages", [])]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]

    def _said(self, role: str) -> str:
        from scripted_answers import read_text

        return "\n".join(read_text(one["content"]) for one in self.body.get("messages", []) if one["role"] == role)

    @property
    def schema(self) -> dict[str, Any] | None:
        wanted = self.body.get("response_format") or {}
        return wanted.get("json_schema", {}).get("schema")


@dataclass
class Fault:
    name: str
    prompt: str | None
    times: int | None
    options: dict[str, Any]

    def fits(self, request: Request) -> bool:
        chat = request.path.endswith("/chat/completions")
        if self.times == 0 or (self.prompt is not None and self.prompt != request.prompt):
            return False
        return chat or (self.name in EVERYWHERE and self.prompt is None) or self.options.get("path") == request.path


Reply = str | dict[str, Any] | Callable[[Request], str | dict[str, Any]]


class ScriptedServer:
    """Start it with `start()`; `heal()` ends all faults. `speed`: seconds between two tokens."""

    def __init__(self, *, models: tuple[str, ...] = ("scripted",), context: int = 4096) -> None:
        self.models = models
        self.context = context
        self.key = ""
        self.owned_by = "vllm"
        self.lists_models = True
        self.tokenizes = True
        self.loads_adapters = False
        self.calls_tool = False
        self.speed = 0.0
        self.obedient = False
        self.requests: list[Request] = []
        self._replies: dict[str, list[Reply]] = {}
        self._faults: list[Fault] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[None]] = set()
        self.port = 0

    # -- what tests say

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def settings(self, **more: Any) -> Any:
        from argot.settings import Settings

        return Settings(**{"model_url": self.url, **more})

    def reply(self, prompt: str, reply: Reply) -> None:
        self._replies[prompt] = [reply]

    def replies(self, prompt: str, *replies: Reply) -> None:
        self._replies[prompt] = list(replies)

    def fault(self, name: str, *, prompt: str | None = None, times: int | None = None, **options: Any) -> None:
        if name not in FAULTS:
            raise ValueError(f"no fault '{name}'; faults: {', '.join(FAULTS)}")
        if name == "refuse":
            self._run(self._stop_listening())
            return
        self._faults.append(Fault(name, prompt, times, options))

    def heal(self) -> None:
        self._faults.clear()
        if self._server is None:
            self._run(self._listen())

    def asked(self, prompt: str = "") -> list[Request]:
        """Return the requests for text, of this prompt or of all."""
        chats = [one for one in self.requests if one.path.endswith("/chat/completions")]
        return [one for one in chats if not prompt or one.prompt == prompt]

    def wait_until(self, holds: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Wait for a condition in the server's thread or another process, and tell whether it was met."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not holds():
            time.sleep(0.01)
        return holds()

    def alone(self) -> bool:
        """Tell whether nobody is connected, so that no request is left to read."""
        return not self._handlers

    # -- life

    def start(self) -> "ScriptedServer":
        self._thread.start()
        self._run(self._listen())
        return self

    def reset(self) -> "ScriptedServer":
        """Reset the server but keep its address, for a service that several tests share."""
        self.heal()
        self._replies.clear()
        self.requests.clear()
        self.speed, self.key, self.owned_by = 0.0, "", "vllm"
        self.obedient = self.calls_tool = False
        self.lists_models = self.tokenizes = True
        self.loads_adapters = False
        return self

    def close(self) -> None:
        self._run(self._stop_listening())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop_listening(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        while self._handlers:
            for task in self._handlers:
                task.cancel()
            await asyncio.wait(self._handlers, timeout=0.1)

    # -- HTTP

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._handlers.add(task)
        try:
            while request := await self._read(reader):
                self.requests.append(request)
                await self._watched(request, reader, writer)
        except (ConnectionError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            self._handlers.discard(task)
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Request | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(first.split()[1], headers, json.loads(body) if body else {})
        request.prompt = prompt_of(request.system)
        return request

    async def _watched(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer, and stop when the client closes the connection, as vLLM does."""
        work = asyncio.ensure_future(self._answer(request, writer))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            # When the client closes, a write fails and a read ends.
            request.gone = not work.done() or isinstance(work.exception(), ConnectionError)
            if request.gone:
                raise ConnectionResetError
            await work
            request.done = True
        finally:
            for task in (work, gone):
                task.cancel()
            # Not one by one in a `suppress`: it would swallow this task's own cancellation, and the server never end.
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        from scripted_answers import Answer

        await Answer(self, request, writer).send()

    # -- what is asked of the script

    def has_fault(self, fault: Fault) -> bool:
        return fault in self._faults

    def take_fault(self, request: Request) -> Fault:
        for one in self._faults:
            if one.fits(request):
                if one.times is not None:
                    one.times -= 1
                return one
        return Fault("", None, None, {})

    def take_reply(self, request: Request) -> str:
        from scripted_obedience import make_least_value, obey

        if self.obedient and (obeyed := obey(request)):
            return obeyed
        replies = self._replies.get(request.prompt, [])
        reply: Any = replies.pop(0) if len(replies) > 1 else (replies[0] if replies else None)
        if callable(reply):
            reply = reply(request)
        if reply is None:
            reply = make_least_value(request.schema) if request.schema else DEFAULT_TEXT
        return reply if isinstance(reply, str) else json.dumps(reply)


def prompt_of(system: str) -> str:
    """Return the name of the prompt whose system text this is or begins with; empty if there is none."""
    from argot.prompts.loader import list_prompt_names, prompt

    found = [name for name in list_prompt_names() if system.startswith(prompt(name).system)]
    return max(found, key=lambda name: len(prompt(name).system), default="")

"""The output of the scripted server: the endpoints, the streamed reply, and how each fault changes them."""

import asyncio
import gzip
import json
import re
import zlib
from collections.abc import AsyncIterator
from typing import Any

TOKEN = re.compile(r"\s*\S+|\s+\Z")
WORD = re.compile(r"\w+|[^\w\s]")
HANG_SECONDS = 3600
HEAD = "HTTP/1.1 {status} scripted\r\ncontent-type: {kind}\r\n{more}"
CUTS = {"cut", "end", "error_event"}
OVERFLOW = (
    "This model's maximum context length is {context} tokens. However, you requested {output} output tokens and your "
    "prompt contains {input} input tokens. Please reduce the length of the input prompt."
)


def count_tokens(body: dict[str, Any]) -> int:
    return 8 + sum(len(WORD.findall(read_text(one["content"]))) for one in body.get("messages", []))


def read_text(content: Any) -> str:
    """Return the text of a message; pictures take no tokens here."""
    return "\n".join(part.get("text", "") for part in content) if isinstance(content, list) else str(content)


class Answer:
    def __init__(self, server: Any, request: Any, writer: asyncio.StreamWriter) -> None:
        self.server, self.request, self.writer = server, request, writer
        self.fault = server.take_fault(request)
        self.options = self.fault.options
        self._reply: str | None = None
        self._packs = self.fault.name == "gzip"
        self._packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)

    async def send(self) -> None:
        if self.fault.name == "hang":
            await asyncio.sleep(HANG_SECONDS)
        if await self._spoilt():
            return
        if self.server.key and self.request.headers.get("authorization") != f"Bearer {self.server.key}":
            await self._error(401, "Unauthorized")
        elif self.request.path.endswith("/models"):
            await self._models()
        elif self.request.path.endswith("/tokenize"):
            await self._tokenize()
        elif self.request.path.endswith("/chat/completions"):
            await self._chat()
        elif self.request.path.endswith("/load_lora_adapter") and self.server.loads_adapters:
            await self._error(400, "Field required")
        else:
            await self._error(404, "Not Found")

    async def _spoilt(self) -> bool:
        """Tell whether a fault that is the same at every endpoint was sent."""
        match self.fault.name:
            case "status":
                await self._error(self.options.get("code", 500), self.options.get("message", "scripted"))
            case "html":
                await self._body(200, "text/html; charset=utf-8", b"<html><body>Log in to the proxy</body></html>")
            case "redirect":
                where = self.options.get("location", "http://127.0.0.1:9/elsewhere")
                await self._body(self.options.get("code", 307), "text/plain", b"", f"location: {where}\r\n")
            case "garbage" | "raw":
                await self._write(self.options.get("head", b"\x00\x01 no HTTP at all\r\n\r\n"))
                if self.options.get("hangs"):
                    await asyncio.sleep(HANG_SECONDS)
                self.writer.close()
            case _:
                return False
        return True

    # -- endpoints

    async def _models(self) -> None:
        if not self.server.lists_models:
            await self._error(404, "Not Found")
            return
        cards = [
            {"id": name, "object": "model", "owned_by": self.server.owned_by, "parent": None}
            | ({"max_model_len": self.server.context} if self.server.owned_by == "vllm" else {})
            for name in self.server.models
        ]
        await self._json(200, {"object": "list", "data": cards})

    async def _tokenize(self) -> None:
        if not self.server.tokenizes:
            await self._error(404, "Not Found")
            return
        count = count_tokens(self.request.body)
        await self._json(200, {"count": count, "max_model_len": self.server.context, "tokens": [1] * count})

    async def _chat(self) -> None:
        if refusal := self._refusal():
            await self._error(*refusal)
            return
        if self.fault.name in ("slow", "trickle"):
            await self._late()
        if not self.request.body.get("stream") or self.fault.name == "unstreamed":
            await self._whole()
            return
        await self._head(200, "text/event-stream; charset=utf-8", "transfer-encoding: chunked\r\n")
        await self._stream()

    def _refusal(self) -> tuple[int, str] | None:
        body, name = self.request.body, self.fault.name
        asked, wanted = count_tokens(body), body.get("max_tokens") or body.get("max_completion_tokens") or 16
        if name == "unknown_model" or body.get("model") not in self.server.models:
            return 404, f"The model `{body.get('model')}` does not exist."
        if name == "overflow" or asked + wanted > self.server.context:
            return 400, OVERFLOW.format(context=self.server.context, output=wanted, input=asked)
        if name == "no_pictures" and self.request.pictures:
            return 400, "this model takes text only"
        if name == "no_schema" and "response_format" in body:
            return 400, "response_format of type json_schema is not supported"
        if name == "no_tools" and "tools" in body:
            return self.options.get("code", 400), "tools are not supported"
        if name == "no_stream_options" and "stream_options" in body:
            return 400, "unknown field: stream_options"
        if name == "no_max_tokens" and "max_tokens" in body:
            return 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        if name == "no_logprobs" and body.get("logprobs"):
            return 400, "logprobs are not supported"
        return None

    async def _late(self) -> None:
        seconds = self.options.get("seconds", 3600 if self.fault.name == "slow" else 1)
        if self.fault.name == "slow":
            await asyncio.sleep(seconds)
            return
        await self._head(200, "text/event-stream; charset=utf-8", "transfer-encoding: chunked\r\n")
        while True:
            await self._chunk(b":")
            await asyncio.sleep(seconds)

    # -- the reply

    def _text(self) -> str:
        match self.fault.name:
            case "invalid_json":
                return "Well, that is a good question."
            case "wrong_schema":
                return '{"unasked": [1, 2, 3]}'
            case "text":
                return str(self.options["text"])
            case "empty":
                return ""
            case "ignores_tools" if "tools" in self.request.body:
                return "I would search for it."
        if self._reply is None:
            self._reply = str(self.server.take_reply(self.request))
        reply = self._reply
        if self.fault.name == "ignores_schema":
            in_words = "JSON schema" in self.request.system
            return f"Sure! Here it is:\n```json\n{reply}\n```\nAnything else?" if in_words else "Sure! It is PUC."
        return reply

    def _tokens(self) -> tuple[list[str], str]:
        """Return the pieces of a reply, and its finish reason."""
        limit = self.request.body.get("max_tokens") or self.request.body.get("max_completion_tokens") or 16
        match self.fault.name:
            case "blanks":
                return ["{", *[" "] * (limit - 1)], "length"
            case "loop":
                return ((["The", " word", " line", " is", " a", " line", ". "]) * limit)[:limit], "length"
        tokens = TOKEN.findall(self._text())
        return tokens[:limit], "length" if len(tokens) > limit else "stop"

    async def _stream_calls(self, calls: list[dict[str, Any]]) -> None:
        """Send calls of tools, scripted in the reply form, in pieces as a server does."""
        await self._event(self._delta({"role": "assistant", "content": "I call a tool."}))
        for index, call in enumerate(calls):
            function = next(
                one["function"] for one in self.request.body["tools"] if one["function"]["name"] == call["tool"]
            )
            texts = iter([call.get("first", ""), call.get("second", "")])
            parts = function["parameters"]["properties"].items()
            given = json.dumps(
                {name: next(texts) if part["type"] == "string" else call.get("passages", []) for name, part in parts}
            )
            begun = {"index": index, "id": f"call-{index}", "type": "function"}
            pieces = [{**begun, "function": {"name": call["tool"], "arguments": ""}}]
            pieces += [{"index": index, "function": {"arguments": one}} for one in (given[:7], given[7:])]
            for piece in pieces:
                await self._event(self._delta({"tool_calls": [piece]}))
        await self._event(self._delta({}, "tool_calls"))
        if (self.request.body.get("stream_options") or {}).get("include_usage"):
            await self._event({**self._delta({}), "choices": [], "usage": self._usage(len(calls))})
        await self._data(b"data: [DONE]\n\n")
        await self._last_chunk()

    def _find_calls(self) -> list[dict[str, Any]]:
        """Return the calls of tools that are scripted for this request; none if it offers none."""
        if "tools" not in self.request.body or self.fault.name == "ignores_tools":
            return []
        try:
            return list(json.loads(self._text())["calls"])
        except (ValueError, TypeError, KeyError):
            return []

    async def _stream(self) -> None:
        if calls := self._find_calls():
            await self._stream_calls(calls)
            return
        tokens, finish = self._tokens()
        options = self.request.body.get("stream_options") or {}
        await self._event(self._delta({"role": "assistant", "content": ""}))
        if self.fault.name == "event":
            await self._data(f"data: {self.options['event']}\n\n".encode())
        async for number, token in self._paced(tokens):
            if self.fault.name in CUTS and number >= self.options.get("tokens", 2):
                await self._cut()
                return
            self.request.sent.append(token)
            counted = {"usage": self._usage(number + 1)} if options.get("continuous_usage_stats") else {}
            await self._event({**self._delta({"content": token}), **counted})
        if self.fault.name in CUTS:
            await self._cut()
            return
        if self.fault.name == "huge":
            await self._endless()
        if self.server.calls_tool:
            call = {"index": 0, "id": "1", "type": "function", "function": {"name": "remove", "arguments": "{}"}}
            await self._event(self._delta({"tool_calls": [call]}))
        await self._event(self._delta({}, finish))
        if self.fault.name == "after":
            await self._after()
            return
        if options.get("include_usage"):
            await self._event({**self._delta({}), "choices": [], "usage": self._usage(len(tokens))})
        await self._data(b"data: [DONE]\n\n")
        await self._last_chunk()

    async def _paced(self, tokens: list[str]) -> AsyncIterator[tuple[int, str]]:
        for number, token in enumerate(tokens):
            if self.server.speed:
                await asyncio.sleep(self.server.speed)
            if self.fault.name == "pause" and number >= self.options["tokens"]:
                await self._healed()
            yield number, token

    async def _healed(self) -> None:
        while self.server.has_fault(self.fault):  # noqa: ASYNC110 - it is healed in another thread
            await asyncio.sleep(0.01)

    async def _cut(self) -> None:
        if self.fault.name == "error_event":
            await self._event({"error": {"message": "scripted failure", "code": 500}})
        if self.fault.name != "cut":
            await self._last_chunk()
        self.writer.close()

    async def _after(self) -> None:
        await self._data(self.options.get("more", b": still here\n\n"))
        if self.options.get("hangs_up"):
            self.writer.close()
        else:
            await asyncio.sleep(HANG_SECONDS)

    async def _endless(self) -> None:
        block = b"x" * 100_000
        while True:
            await self._data(block)

    async def _whole(self) -> None:
        tokens, finish = self._tokens()
        message = {"role": "assistant", "content": "".join(tokens)}
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if self.request.body.get("logprobs"):
            choice["logprobs"] = {"content": [{"token": one, "logprob": -0.1, "top_logprobs": []} for one in tokens]}
        await self._json(
            200, {**self._envelope("chat.completion"), "choices": [choice], "usage": self._usage(len(tokens))}
        )

    def _usage(self, completion: int) -> dict[str, int]:
        asked = count_tokens(self.request.body)
        return {"prompt_tokens": asked, "completion_tokens": completion, "total_tokens": asked + completion}

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": self.request.body.get("model", "")}

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._envelope("chat.completion.chunk"), "choices": [choice]}

    # -- bytes

    async def _event(self, event: dict[str, Any]) -> None:
        await self._data(f"data: {json.dumps(event)}\n\n".encode())

    async def _data(self, data: bytes) -> None:
        await self._chunk(self._packer.compress(data) + self._packer.flush(zlib.Z_SYNC_FLUSH) if self._packs else data)

    async def _chunk(self, data: bytes) -> None:
        await self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def _last_chunk(self) -> None:
        if self._packs:
            await self._chunk(self._packer.flush())
        await self._write(b"0\r\n\r\n")

    async def _json(self, status: int, body: Any) -> None:
        await self._body(status, "application/json", json.dumps(body).encode())

    async def _error(self, status: int, message: str) -> None:
        await self._json(status, {"error": {"message": message, "type": "scripted", "param": None, "code": status}})

    async def _body(self, status: int, kind: str, data: bytes, more: str = "") -> None:
        if self._packs:
            data = gzip.compress(data)
        await self._head(status, kind, f"{more}content-length: {len(data)}\r\n")
        await self._write(data)

    async def _head(self, status: int, kind: str, more: str) -> None:
        coding = "content-encoding: gzip\r\n" if self._packs else ""
        await self._write((HEAD.format(status=status, kind=kind, more=more) + coding + "\r\n").encode())

    async def _write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

"""A model server of fixed speed with OpenAI's interface, as far as a load test needs it.

    python bench/model_stub.py [--port 0] [--first 0.3] [--reply 0.15] [--speed 60] [--tokens 0]

The first token of an answer comes after `first` seconds, each further one `1/speed` later; a reply in JSON is sent
whole after `reply` seconds. With `tokens` an answer has that many, which are words of the given passages, so that the
answer is supported like a good model's; otherwise it is always the same short text. The server prints its address and
serves until it is killed. Its delays are fixed, so that the rest of an asker's wait is the application's share.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

# The tests' model server replies with the same minimal values.
sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from scripted_obedience import make_least_value

ANSWER = "The documents answer this in so many words [1]. " + "What follows rests on the same passage [1]. " * 3
MODEL = "stub"
PASSAGE = re.compile(r"<passage [^>]*>\s*(.*?)</passage>", re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class Stub:
    def __init__(self, first: float, reply: float, speed: float, tokens: int = 0) -> None:
        self.first, self.reply, self.pause, self.tokens = first, reply, 1 / speed, tokens

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = next(
                    (line[15:] for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0
                )
                body = await reader.readexactly(int(length))
                await self._answer(head.split(" ", 2)[1], json.loads(body) if body else {}, writer)
        writer.close()

    async def _answer(self, path: str, asked: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if path.endswith("/models"):
            card = {"id": MODEL, "object": "model", "owned_by": "vllm", "max_model_len": 8192}
            await _send_whole(writer, {"object": "list", "data": [card]})
        elif path.endswith("/tokenize"):
            text = "".join(str(one.get("content", "")) for one in asked.get("messages", [])) or str(asked.get("prompt"))
            await _send_whole(writer, {"count": len(text) // 4 + 8, "max_model_len": 8192, "tokens": []})
        else:
            schema = (asked.get("response_format") or {}).get("json_schema", {}).get("schema")
            pieces = (
                [json.dumps(make_least_value(schema))] if schema else [f"{word} " for word in self._list_words(asked)]
            )
            await self._send_completion(writer, schema, pieces, stream=bool(asked.get("stream")))

    def _list_words(self, asked: dict[str, Any]) -> list[str]:
        if not self.tokens:
            return ANSWER.split()
        # A request that checks the server's capabilities has no messages.
        messages = asked.get("messages") or [{"content": ""}]
        given = PASSAGE.findall(str(messages[-1]["content"]))
        words = [word for number, text in enumerate(given, 1) for word in cite_words(text, number)] or ANSWER.split()
        return (words * (self.tokens // len(words) + 1))[: self.tokens]

    async def _send_completion(
        self, writer: asyncio.StreamWriter, schema: dict[str, Any] | None, pieces: list[str], *, stream: bool
    ) -> None:
        wait = self.reply if schema else self.first
        if not stream:
            await asyncio.sleep(wait + self.pause * (len(pieces) - 1))
            said = {"role": "assistant", "content": "".join(pieces)}
            used = {"prompt_tokens": 500, "completion_tokens": len(pieces), "total_tokens": 500 + len(pieces)}
            await _send_whole(
                writer, _build_chunk("chat.completion", {"message": said, "finish_reason": "stop"}) | {"usage": used}
            )
            return
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        due = time.monotonic() + wait
        for piece in pieces:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += self.pause
            await _send_event(
                writer, _build_chunk("chat.completion.chunk", {"delta": {"content": piece}, "finish_reason": None})
            )
        await _send_event(writer, _build_chunk("chat.completion.chunk", {"delta": {}, "finish_reason": "stop"}))
        _send_part(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def cite_words(text: str, number: int) -> list[str]:
    """Return the words of a passage's sentences, each with its citation; without headings and rows of tables."""
    sentences = [one for one in SENTENCE_END.split(text) if one.endswith((".", "!", "?")) and not one.startswith("|")]
    return [word for one in sentences for word in f"{one[:-1]} [{number}]{one[-1]}".split()]


def _build_chunk(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {"id": "c", "object": kind, "created": 0, "model": MODEL, "choices": [{"index": 0, **choice}]}


async def _send_event(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    _send_part(writer, b"data: " + json.dumps(event).encode() + b"\n\n")
    await writer.drain()


def _send_part(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


async def _send_whole(writer: asyncio.StreamWriter, value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
    await writer.drain()


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--first", type=float, default=0.3, help="seconds until the first token of an answer")
    parser.add_argument("--reply", type=float, default=0.15, help="seconds until a reply in JSON")
    parser.add_argument("--speed", type=float, default=60, help="tokens a second")
    parser.add_argument("--tokens", type=int, default=0, help="words of the passages in an answer; 0: a short text")
    arguments = parser.parse_args()
    stub = Stub(arguments.first, arguments.reply, arguments.speed, arguments.tokens)
    server = await asyncio.start_server(stub.serve, "127.0.0.1", arguments.port)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())

"""A model server that knows the answers: it shows how the pipeline treats right answers and wrong ones.

The server uses real HTTP on this machine, in the form of OpenAI's chat completions. Its model (`KnownModel`) answers
from the passages and says whether a passage supports a sentence: the ideal model, the recorded one, and each with a
lie. Every other prompt gets the emptiest reply that its schema allows, so that Argot itself reads the questions.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.known_models import KnownModel, ServedQuestion, has_passages

CONTEXT_TOKENS = 32_768


class KnownAnswers:
    """The server, in a thread of its own; use it as a context manager. `expect` sets the question."""

    def __init__(self, model: KnownModel) -> None:
        self.model = model
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True, name="known-answers")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> KnownAnswers:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    def expect(self, question: AnswerQuestion, place: int) -> ServedQuestion:
        """Set the question that is asked next. The returned record is filled in while the server is asked."""
        return self.model.expect(question, place)

    def reply(self, body: dict[str, Any]) -> str:
        """Return the model's reply to one request."""
        user = "\n".join(str(one["content"]) for one in body["messages"] if one["role"] == "user")
        asked = (body.get("response_format") or {}).get("json_schema") or {}
        if asked.get("schema") is None:
            return self.model.answer(user) if has_passages(user) else ""
        if asked.get("name") == "research":
            chosen = self.model.choose_passages(user)
            return json.dumps({"calls": [{"tool": "answered", "first": "", "second": "", "passages": chosen}]})
        if asked.get("name") == "match_references":
            return json.dumps({"segments": self.model.match_sentences(user)})
        return json.dumps(make_least_value(asked["schema"]))


def make_least_value(schema: dict[str, Any]) -> Any:
    """Return the emptiest value that a schema allows; of an enumeration the last, which is "none" if there is one."""
    if "enum" in schema:
        return schema["enum"][-1]
    match schema.get("type"):
        case "object":
            return {name: make_least_value(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [make_least_value(schema["items"])] * schema.get("minItems", 0)
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
    return "-" * schema.get("minLength", 0)


# -- HTTP -------------------------------------------------------------------------------------------------------------


def _make_handler(server: KnownAnswers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *values: Any) -> None:
            """Log nothing: the requests are not of interest."""

        def do_GET(self) -> None:
            known = self.path.endswith("/models")
            card = {"id": server.model.name, "object": "model", "owned_by": "vllm", "max_model_len": CONTEXT_TOKENS}
            self._send(200 if known else 404, {"object": "list", "data": [card]} if known else {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            if self.path.endswith("/tokenize"):
                words = sum(len(str(one["content"]).split()) for one in body.get("messages", []))
                self._send(200, {"count": 2 * words, "max_model_len": CONTEXT_TOKENS, "tokens": []})
            elif body.get("tools"):  # Argot then asks for the same calls in JSON
                self._send(400, {"error": {"message": "tools are not supported"}})
            elif body.get("stream"):
                self._stream(server.reply(body))
            else:
                message = {"role": "assistant", "content": server.reply(body)}
                self._send(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

        def _send(self, status: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, text: str) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for event in _build_events(text):
                self.wfile.write(f"data: {event}\n\n".encode())
            self.close_connection = True

    return Handler


def _build_events(text: str) -> Sequence[str]:
    pieces = [{"content": piece} for piece in re.findall(r"\s*\S+", text)]
    deltas = [*pieces, {}]
    return [
        *(
            json.dumps(
                {"choices": [{"index": 0, "delta": one, "finish_reason": None if one else "stop"}]}, ensure_ascii=False
            )
            for one in deltas
        ),
        "[DONE]",
    ]

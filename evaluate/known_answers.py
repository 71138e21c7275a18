"""A model server that knows the answers: it shows how the pipeline treats right answers and wrong ones.

The server uses real HTTP on this machine, in the form of OpenAI's chat completions. `ideal`: if a passage that holds
the answer is in the prompt, the server gives the reference answer word for word, and each sentence has the number of
the passage that supports it; otherwise it refuses. `lying`: the same, with one sentence made false by one change and
the citation right. If it is asked whether a passage supports a sentence, `ideal` answers truthfully, and `lying` always
says yes. Every other prompt gets the emptiest reply that its schema allows, so that Argot itself reads the questions.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from argot.evaluate.altered_statements import make_lie
from argot.evaluate.answer_questions import AnswerQuestion
from argot.prompts.loader import NOT_IN_PASSAGES
from argot.tools.answering.support import support
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import bare

Manner = Literal["ideal", "lying"]

CONTEXT_TOKENS = 32_768
_PASSAGE = re.compile(r'<passage n="(\d+)"[^>]*>\n?(.*?)\n?</passage>', re.DOTALL)
HOLDS = 0.8
"""The least share of a snippet's content in a passage for which the passage contains the snippet, even if a table or a
page break splits it."""


@dataclass
class Heard:
    """The record of one question at the server. `lie`: the sentence made false, with the kind of the change."""

    question: AnswerQuestion
    place: int
    asked: bool = False
    gold_shown: bool = False
    said: tuple[str, ...] = ()
    lie: str = ""
    kind_of_lie: str = ""
    passages: int = field(default=0)


class KnownAnswers:
    """The server, in a thread of its own; use it as a context manager. It knows the question set by `expect`."""

    def __init__(self, manner: Manner) -> None:
        self.manner = manner
        self.heard = Heard(AnswerQuestion("", "", ""), 0)
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

    def expect(self, question: AnswerQuestion, place: int) -> Heard:
        """Set the question that is asked next. The returned record is filled in while the server is asked."""
        self.heard = Heard(question, place)
        return self.heard

    def reply(self, body: dict[str, Any]) -> str:
        """Return the model's reply to one request."""
        user = "\n".join(str(one["content"]) for one in body["messages"] if one["role"] == "user")
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        name = ((body.get("response_format") or {}).get("json_schema") or {}).get("name", "")
        if schema is None:
            return self._answer(user) if _PASSAGE.search(user) else ""
        if name == "match_references":
            return json.dumps({"segments": self._match_sentences(user)})
        return json.dumps(make_least_value(schema))

    def _answer(self, user: str) -> str:
        heard, passages = self.heard, _read_passages(user)
        holding = {n: text for n, text in passages.items() if _has_gold(text, heard.question)}
        heard.asked, heard.passages = True, len(passages)
        heard.gold_shown = bool(holding)
        if not holding or not heard.question.reference:
            return NOT_IN_PASSAGES
        sentences = split_answer(heard.question.reference)
        if self.manner == "lying":
            at = heard.place % len(sentences)
            heard.lie, heard.kind_of_lie = make_lie(sentences[at], heard.place)
            if heard.kind_of_lie == "from nowhere":
                sentences.append(heard.lie)
            else:
                sentences[at] = heard.lie
        heard.said = tuple(sentences)
        return " ".join(f"{_strip_stop(one)} [{_find_nearest(one, holding)}]." for one in sentences)

    def _match_sentences(self, user: str) -> list[dict[str, int]]:
        """Return for each numbered sentence the gold passage that supports it, or 0 if the sentence is not part of the
        reference.
        """
        holding = {n: text for n, text in _read_passages(user).items() if _has_gold(text, self.heard.question)}
        true = {bare(one) for one in split_answer(self.heard.question.reference)}
        found = []
        for number, sentence in _read_numbered(user):
            said = bare(sentence)
            # the lying server also claims that its false sentences are supported
            is_true = bool(holding) and (self.manner == "lying" or said in true)
            found.append(
                {"first": number, "last": number, "passage": _find_nearest(sentence, holding) if is_true else 0}
            )
        return found


def split_answer(text: str) -> list[str]:
    return [text[first:last].strip() for first, last in split_sentences(text) if text[first:last].strip()]


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


def _read_passages(user: str) -> dict[int, str]:
    return {int(n): text for n, text in _PASSAGE.findall(user)}


def _read_numbered(user: str) -> list[tuple[int, str]]:
    """Return the numbered sentences of a prompt, which follow its last passage."""
    behind = user[max((found.end() for found in _PASSAGE.finditer(user)), default=0) :]
    return [(int(n), text) for n, text in re.findall(r"^\s*\[?(\d+)[\].:)]?\s+(.+)$", behind, re.MULTILINE)]


def _has_gold(passage: str, question: AnswerQuestion) -> bool:
    words = bare(passage)
    quotes = [bare(one.quote) for one in question.gold if one.quote] or [bare(question.reference)]
    return any(quote and (quote in words or support(quote, passage) >= HOLDS) for quote in quotes)


def _find_nearest(sentence: str, passages: dict[int, str]) -> int:
    return max(passages, key=lambda n: support(sentence, passages[n]))


def _strip_stop(sentence: str) -> str:
    """Remove the full stop, which is put after the citation mark."""
    return sentence.rstrip().removesuffix(".")


# -- HTTP -------------------------------------------------------------------------------------------------------------


def _make_handler(server: KnownAnswers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *values: Any) -> None:
            """Log nothing: the requests are not of interest."""

        def do_GET(self) -> None:
            known = self.path.endswith("/models")
            card = {"id": server.manner, "object": "model", "owned_by": "vllm", "max_model_len": CONTEXT_TOKENS}
            self._send(200 if known else 404, {"object": "list", "data": [card]} if known else {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            if self.path.endswith("/tokenize"):
                words = sum(len(str(one["content"]).split()) for one in body.get("messages", []))
                self._send(200, {"count": 2 * words, "max_model_len": CONTEXT_TOKENS, "tokens": []})
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

"""`/v1`: chat completions and models in the form of OpenAI's API.

The program sends the whole conversation. System messages are data like any other text: they do not change how questions
are answered. Profiles are models: `argot` is the service's own profile, `argot-strict` the strict one.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from argot import __version__
from argot.profile import PROFILES
from argot.results import AskEvent, AskResult
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.attachments import MAX_FILES
from argot.service.usecases.questions.conversations import AttachedPicture, Message, converse
from argot.service.usecases.questions.profiles import profile_list
from argot.service.usecases.usecase_registry import get_answer
from argot.types import Effort
from argot.ui.api.api_route import (
    JSON_TYPE,
    ApiRoute,
    EventStream,
    build_error_event,
    cancel_on_hang_up,
    keep_alive,
    limit_body,
    start_stream,
)
from argot.ui.api.openapi import declare_errors, get_operation_id
from argot.ui.api.streamed_text import StreamedText, read_pieces
from argot.ui.rendering.message_markdown import format_message, strip_footnotes
from argot.ui.web.api_errors import answer_program
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

DEFAULT_MODEL = "argot"
FINGERPRINT = f"argot_{__version__}"
MAX_MESSAGES = 2000
MAX_BODY_BYTES = 12 * 2**20
"""With a few pictures."""


_DATA_ADDRESS = re.compile(r"data:(image/[a-z+.-]{1,20});base64,", re.IGNORECASE)
_SUFFIXES = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/jpg": ".jpg", "image/webp": ".webp", "image/bmp": ".bmp",
    "image/tiff": ".tiff",
}  # fmt: skip
"""Names of files by the kinds of pictures that are read."""


class PictureAddress(BaseModel):
    model_config = ConfigDict(extra="allow")

    url: str = Field(description="the picture itself, as data:image/png;base64,...; no other address is opened")


class Part(BaseModel):
    """A part of a message: text, or in the last message a picture (`image_url`)."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None
    image_url: PictureAddress | None = None


class ChatMessage(BaseModel):
    """One message. Messages of `system`, `developer`, `tool` and `function` are not read."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="allow")

    include_usage: bool | None = False


class ArgotOptions(BaseModel):
    """Options that OpenAI's API has no name for."""

    # Unknown parameters of OpenAI's are accepted, for they come and go; a misspelt one of ours is an error.
    model_config = ConfigDict(extra="forbid")

    context: str | None = Field(None, description="the asker's own context, which settles ambiguous terms")
    tags: list[str] | None = Field(None, max_length=100, description="only documents that carry one of these tags")
    since: str | None = Field(None, description="only documents of this date or later: 2025-03-01, 2025-03 or 2025")
    fields: dict[str, list[str]] | None = Field(
        None, max_length=20, description='only documents that have one of the values of each, as {"region": ["EU"]}'
    )
    effort: Effort | None = Field(None, description="quick, normal or thorough; the profile's own if left out")


class ChatRequest(BaseModel):
    """Parameters that choose how a language model writes (`temperature`, `max_tokens`, `stop`, ...) are ignored."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(DEFAULT_MODEL, description="`argot`, or a profile of it as `argot-strict`; see `/v1/models`")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(None, description="1: there is one answer to a question")
    argot: ArgotOptions | None = None


class Usage(BaseModel):
    """Tokens of the language model; 0 where no model was called."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class AnswerMessage(BaseModel):
    """`argot`: status, sentences with citations, jargon, choices, passages: see `/api/ask`."""

    role: Literal["assistant"]
    content: str
    argot: dict[str, Any]


class Completed(BaseModel):
    index: int
    message: AnswerMessage
    finish_reason: Literal["stop"]


class Completion(BaseModel):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Completed]
    usage: Usage


class ModelCard(BaseModel):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    description: str


class ModelCards(BaseModel):
    object: Literal["list"]
    data: list[ModelCard]


class RequestRefusal(Exception):
    """A request that cannot be answered as its sender means it."""

    def __init__(self, message: str, param: str, status: int = 400, code: str | None = None) -> None:
        self.status, self.param, self.code = status, param, code
        super().__init__(message)


def build_completion_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(
        prefix="/v1", route_class=ApiRoute, generate_unique_id_function=get_operation_id, tags=["OpenAI-compatible"]
    )

    @router.get("/models", response_model=None, responses={200: {"model": ModelCards}, **declare_errors(401)})
    @needs("asker", program=True)
    async def models(who: Who) -> Response:
        """List the ways to answer, as models."""
        abouts = await _describe_models(kb, who)
        return JSONResponse(
            {"object": "list", "data": [_describe_model(name, about) for name, about in abouts.items()]}
        )

    @router.get(
        "/models/{model}", response_model=None, responses={200: {"model": ModelCard}, **declare_errors(401, 404)}
    )
    @needs("asker", program=True)
    async def model(model: str, who: Who) -> Response:
        """Describe one model."""
        abouts = await _describe_models(kb, who)
        if model not in abouts:
            return answer_refusal(_refuse_unknown_model(model, abouts))
        return JSONResponse(_describe_model(model, abouts[model]))

    @router.post(
        "/chat/completions",
        response_model=None,
        responses={
            200: {"model": Completion, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            **declare_errors(400, 401, 404, 409, 413, 415, 429, 503),
        },
    )
    @needs("asker", program=True)
    @limit_body(JSON_TYPE, MAX_BODY_BYTES)
    async def completions(request: Request, who: Who, given: ChatRequest) -> Response:
        """Answer the last message, given those before it.

        The text carries marks ([1]) and footnotes; the message's field `argot` holds the same as data. Where a term has
        several meanings, the message is a numbered question; the user's next message answers it.
        """
        try:
            profile = await kb.blocking(find_profile, kb, given.model)
            asked = begin_answer(kb, who, given, profile)
        except RequestRefusal as refusal:
            return answer_refusal(refusal)
        head = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time()), "model": given.model}
        head["system_fingerprint"] = FINGERPRINT
        site = kb.settings.web.public_url.rstrip("/")
        if not given.stream:
            result = await cancel_on_hang_up(request, get_answer(asked))
            return JSONResponse(_build_completion(head, result, site), headers={"Cache-Control": "no-store"})
        # A question that cannot begin is answered with an error status, which a stream could no longer send.
        events = await start_stream(request, asked)
        streamed = StreamedText(site, live=await is_written_live(kb, profile))
        wants_usage = bool(given.stream_options and given.stream_options.include_usage)
        return EventStream(keep_alive(_stream_chunks(events, streamed, head, usage=wants_usage)))

    return router


# -- what is asked ----------------------------------------------------------------------------------------------------


def begin_answer(kb: KnowledgeBase, who: Visitor, chat: ChatRequest, profile: str | None) -> AsyncGenerator[AskEvent]:
    """Answer the question of the last message, event by event.

    Raises:
        RequestRefusal: something is asked for that would be left out in silence.
    """
    _refuse_what_cannot_be(chat)
    options = chat.argot or ArgotOptions()
    spoken = [(one, role) for one in chat.messages if (role := _read_speaker(one))]
    messages = [
        Message(role, _read_text(one, is_question=place == len(spoken))) for place, (one, role) in enumerate(spoken, 1)
    ]
    if not messages:
        raise RequestRefusal("There is no user message. Send the question as the last message.", "messages")
    return converse(
        kb,
        who.principal,
        messages=[one for one in messages if one.content.strip() or one.role == "user"],
        profile=profile,
        context=options.context,
        tags=options.tags,
        since=options.since,
        fields=options.fields,
        effort=options.effort,
        pictures=list(_read_pictures(spoken[-1][0])),
    )


def _refuse_what_cannot_be(chat: ChatRequest) -> None:
    more: Mapping[str, Any] = chat.model_extra or {}
    if chat.n not in (None, 1):
        raise RequestRefusal(f"n cannot be {chat.n}: there is one answer to a question. Leave it out.", "n")
    # Assistants list their tools with every request; "none" says that they shall not be called.
    calls_none = "none" in (more.get("tool_choice"), more.get("function_call"))
    for name in ("tools", "functions", "audio"):
        if more.get(name) and not (calls_none and name != "audio"):
            raise RequestRefusal(f"'{name}' is not supported: Argot answers from documents and calls no tools.", name)
    if more.get("logprobs"):
        raise RequestRefusal("'logprobs' is not supported. Leave it out.", "logprobs")
    form = more.get("response_format")
    if isinstance(form, dict) and form.get("type", "text") != "text":
        text = "Answers are text; the message's field 'argot' and /api/ask have them as data."
        raise RequestRefusal(f"response_format cannot be '{str(form['type'])[:40]}'. {text}", "response_format")


def _read_speaker(message: ChatMessage) -> Literal["user", "assistant"] | None:
    return message.role if message.role in ("user", "assistant") else None


def _read_text(message: ChatMessage, *, is_question: bool) -> str:
    """Return the text of a message. A part that is neither text nor a picture is refused in the message that is
    `is_question`; it is left out of earlier ones, and so are pictures.

    Earlier messages are sent again with every later question, so a refusal would make each of them fail.
    """
    content = message.content
    if isinstance(content, list):
        other = next((part.type for part in content if part.type not in ("text", "refusal", "image_url")), None)
        if other is not None and is_question:
            raise RequestRefusal(f"A part of kind '{other[:40]}' cannot be read. Send text or pictures.", "messages")
        content = "\n".join(part.text or "" for part in content if part.type != "image_url")
    text = content or ""
    # Our own footnotes would be read as part of the conversation, as if they asked about sources.
    return strip_footnotes(text) if message.role == "assistant" else text


def _read_pictures(message: ChatMessage) -> Iterator[AttachedPicture]:
    """Yield the pictures of a message, named in their order.

    Raises:
        RequestRefusal: one is given by an address, or of a kind that is not read; or there are too many.
    """
    parts = message.content if isinstance(message.content, list) else []
    pictures = [part for part in parts if part.type == "image_url"]
    if len(pictures) > MAX_FILES:
        raise RequestRefusal(f"The message has {len(pictures)} pictures. Send at most {MAX_FILES}.", "messages")
    for number, part in enumerate(pictures, start=1):
        url = part.image_url.url if part.image_url else ""
        found = _DATA_ADDRESS.match(url)
        if found is None:
            form = f"data:image/png;base64,... ({', '.join(_SUFFIXES)})"
            text = f"image_url cannot be '{url[:40]}': no address is opened. Send the picture itself, as {form}."
            raise RequestRefusal(text, "messages")
        if (suffix := _SUFFIXES.get(found[1].lower())) is None:
            text = f"A picture of kind '{found[1]}' is not read. Convert it to one of: {', '.join(_SUFFIXES)}."
            raise RequestRefusal(text, "messages")
        yield AttachedPicture(f"picture-{number}{suffix}", url[found.end() :])


def _list_models(kb: KnowledgeBase) -> dict[str, str | None]:
    """Map each model to its profile; None stands for the service's own profile."""
    names = [name for name in PROFILES if name != "default"] + kb.profiles.names()
    return {DEFAULT_MODEL: None, **{f"{DEFAULT_MODEL}-{name.replace('_', '-')}": name for name in names}}


def find_profile(kb: KnowledgeBase, model: str) -> str | None:
    """Return the profile of a model.

    Raises:
        RequestRefusal: there is no such model.
    """
    models = _list_models(kb)
    if model not in models:
        raise _refuse_unknown_model(model, models)
    return models[model]


async def _describe_models(kb: KnowledgeBase, who: Visitor) -> dict[str, str]:
    """Describe the purpose of each model."""
    abouts = {one.name: one.about for one in await profile_list(kb, who.principal)}
    models = await kb.blocking(_list_models, kb)
    return {model: abouts.get(profile or "default", "") for model, profile in models.items()}


def _refuse_unknown_model(model: str, there: Iterable[str]) -> RequestRefusal:
    text = f"There is no model '{model[:80]}'. Models: {', '.join(there)}."
    return RequestRefusal(text, "model", 404, "model_not_found")


def answer_refusal(refusal: RequestRefusal) -> Response:
    return answer_program(refusal.status, str(refusal), param=refusal.param, code=refusal.code)


def _describe_model(model: str, about: str) -> dict[str, Any]:
    return {"id": model, "object": "model", "created": 0, "owned_by": "argot", "description": about}


# -- what is answered -------------------------------------------------------------------------------------------------


def build_metadata(result: AskResult) -> dict[str, Any]:
    """Build the message's field `argot`: how the question was read, and the sources of each sentence."""
    cited = {citation.n for sentence in result.sentences for citation in sentence.citations}
    shown = [one for place, one in enumerate(result.passages) if one.n in cited or (not cited and place < 3)]
    metadata = {
        "status": result.status,
        "is_weak": result.is_weak,
        "stand_alone_question": result.stand_alone_question,
        "sentences": result.sentences,
        "answer_context": result.answer_context,
        "jargon": result.jargon,
        "context": result.context,
        "misses": result.misses,
        "choices": result.choices,
        "notes": result.notes,
        "answered_by": result.answered_by,
        "verified": result.verified,
        "model": result.model,
        "passages": shown,
    }
    plain: dict[str, Any] = convert_to_json(metadata)
    return plain


def _build_completion(head: Mapping[str, Any], result: AskResult, site: str) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": format_message(result, site),
        "refusal": None,
        "argot": build_metadata(result),
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": count_usage(result)}


def count_usage(result: AskResult) -> dict[str, int]:
    read = sum(call.prompt_tokens for call in result.model_calls)
    written = sum(call.completion_tokens for call in result.model_calls)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


async def is_written_live(kb: KnowledgeBase, profile: str | None) -> bool:
    """Tell whether a language model may write the answer word by word; quotations come at once, with their marks."""
    chosen = await kb.blocking(kb.profiles.find, profile or kb.settings.profile)
    return bool(kb.settings.model_server.url) and chosen.use_model


async def _stream_chunks(
    events: AsyncGenerator[AskEvent], streamed: StreamedText, head: Mapping[str, Any], *, usage: bool
) -> AsyncGenerator[str]:
    """Stream pieces of the text, then the end with the metadata, the usage if it is wanted, and `[DONE]`."""
    more = {"usage": None} if usage else {}

    def make_chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _format_line({**head, "object": "chat.completion.chunk", "choices": [choice], **more})

    # OpenAI's first chunk holds the role and no text; clients create the message from it.
    yield make_chunk({"role": "assistant", "content": ""})
    try:
        async with aclosing(events):
            async for event in events:
                for piece in read_pieces(streamed, event):
                    yield make_chunk({"content": piece})
    except Exception as error:
        # The status was sent long ago: the error is the last event, without a [DONE] behind it.
        yield _format_line(build_error_event(error))
        return
    result = streamed.result
    yield make_chunk({"argot": build_metadata(result)}, "stop")
    if usage:
        yield _format_line({**head, "object": "chat.completion.chunk", "choices": [], "usage": count_usage(result)})
    yield "data: [DONE]\n\n"


def _format_line(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"

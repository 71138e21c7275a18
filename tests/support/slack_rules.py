"""The calls that Slack refuses, by its reference pages: too long, too many, of an unknown shape, without its scope."""

import re
from collections.abc import Iterator
from typing import Any

SCOPE_OF = {
    "assistant.threads.setStatus": "chat:write",
    "assistant.threads.setSuggestedPrompts": "assistant:write",
    "assistant.threads.setTitle": "assistant:write",
    "chat.appendStream": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.postMessage": "chat:write",
    "chat.startStream": "chat:write",
    "chat.stopStream": "chat:write",
    "chat.update": "chat:write",
    "reactions.add": "reactions:write",
    "reactions.remove": "reactions:write",
    "users.info": "users:read",
    "users.lookupByEmail": "users:read.email",
}
WITHOUT_SCOPE = {"apps.connections.open", "auth.test", "views.open"}
HISTORY = {"C": "channels:history", "D": "im:history", "G": "groups:history"}
_TS = re.compile(r"\d+\.\d+")
_KEYS = {
    "actions": {"type", "block_id", "elements"},
    "context": {"type", "block_id", "elements"},
    "context_actions": {"type", "block_id", "elements"},
    "input": {"type", "block_id", "optional", "label", "element", "hint"},
    "section": {"type", "block_id", "text", "fields", "accessory", "expand"},
}
_ELEMENTS = {
    "button": {"type", "action_id", "text", "value", "url", "style", "confirm", "accessibility_label"},
    "checkboxes": {"type", "action_id", "options", "initial_options"},
    "feedback_buttons": {"type", "action_id", "positive_button", "negative_button"},
    "plain_text_input": {"type", "action_id", "initial_value", "multiline", "max_length", "min_length", "placeholder"},
    "radio_buttons": {"type", "action_id", "options", "initial_option"},
    "static_select": {"type", "action_id", "options", "initial_option", "placeholder"},
}
_MOST_OPTIONS = {"checkboxes": 10, "radio_buttons": 10, "static_select": 100}


def scope_needed(method: str, given: dict[str, Any]) -> str:
    """Return the scope a call needs; empty: none. An unknown method needs a scope that nobody has."""
    if method == "conversations.replies":
        return HISTORY[given["channel"][0]]
    return "" if method in WITHOUT_SCOPE else SCOPE_OF.get(method, f"unknown method {method}")


def refusals(method: str, given: dict[str, Any]) -> list[str]:
    """Return the faults of a call, each as Slack's code and its subject; none: the call is accepted."""
    return list(_refusals(method, given))


def _refusals(method: str, given: dict[str, Any]) -> Iterator[str]:
    if method.startswith("chat.post") or method == "chat.update":
        yield from _message(method, given)
    if method == "views.open":
        yield from _view(given.get("view") or {})
    if method.endswith("Stream"):
        yield from _stream(method, given)
    if method == "assistant.threads.setSuggestedPrompts":
        prompts = given.get("prompts") or []
        if not 1 <= len(prompts) <= 4 or not all(one.get("title") and one.get("message") for one in prompts):
            yield f"invalid_arguments: {prompts}"
    if method in ("assistant.threads.setStatus", "assistant.threads.setTitle") and not given.get("thread_ts"):
        yield "invalid_thread_ts"
    for name in ("thread_ts", "ts", "timestamp"):
        if given.get(name) and not _TS.fullmatch(str(given[name])):
            yield f"invalid_{name}: {given[name]}"


def _message(method: str, given: dict[str, Any]) -> Iterator[str]:
    if not (given.get("text") or given.get("blocks")):
        yield "no_text"
    if len(given.get("text") or "") > (4000 if method == "chat.update" else 40_000):
        yield "msg_too_long"
    metadata = given.get("metadata")
    if metadata is not None and not (isinstance(metadata.get("event_payload"), dict) and metadata.get("event_type")):
        yield f"invalid_metadata_schema: {metadata}"
    blocks = given.get("blocks") or []
    yield from _blocks(blocks, most=50, allowed={"actions", "context", "context_actions", "section"})
    total = sum(len(text["text"]) for block in blocks for text in _texts(block))
    if total > 13_200:
        yield f"msg_blocks_too_long: {total} characters"


def _view(view: dict[str, Any]) -> Iterator[str]:
    if view.get("type") != "modal":
        yield f"invalid_arguments: {view.get('type')} is no view"
    for name in ("title", "submit", "close"):
        if name in view:
            yield from _text(view[name], 24, plain=True)
    if "title" not in view:
        yield "invalid_arguments: a modal has a title"
    if len(view.get("private_metadata", "")) > 3000:
        yield f"invalid_arguments: private_metadata of {len(view['private_metadata'])} characters"
    blocks = view.get("blocks") or []
    if any(block.get("type") == "input" for block in blocks) and "submit" not in view:
        yield "invalid_arguments: a form is sent by a button"
    yield from _blocks(blocks, most=100, allowed={"actions", "context", "input", "section"})


def _stream(method: str, given: dict[str, Any]) -> Iterator[str]:
    if method == "chat.startStream":
        if not given.get("thread_ts"):
            yield "invalid_thread_ts"
        for name in ("recipient_team_id", "recipient_user_id"):
            if not given.get(name) and not given["channel"].startswith("D"):
                yield f"missing_{name}"
    for chunk in given.get("chunks") or ():
        if chunk.get("type") != "markdown_text" or not 0 < len(chunk.get("text", "")) <= 12_000:
            yield f"invalid_chunks: {chunk}"


def _blocks(blocks: list[dict[str, Any]], *, most: int, allowed: set[str]) -> Iterator[str]:
    if len(blocks) > most:
        yield f"invalid_blocks: {len(blocks)} blocks"
    names: list[str] = []
    for block in blocks:
        kind = block.get("type", "")
        if kind not in allowed or block.keys() - _KEYS[kind]:
            yield f"invalid_blocks: {kind} {sorted(block)}"
            continue
        if kind == "section":
            yield from _text(block["text"], 3000)
        elif kind == "input":
            yield from _text(block["label"], 2000, plain=True)
            yield from _element(block["element"])
        elif kind == "context":
            if not 1 <= len(block["elements"]) <= 10:
                yield "invalid_blocks: elements of a context"
            for one in block["elements"]:
                yield from _text(one, 3000)
        else:
            if not 1 <= len(block["elements"]) <= (25 if kind == "actions" else 5):
                yield f"invalid_blocks: {len(block['elements'])} elements"
            for one in block["elements"]:
                yield from _element(one)
        names += [one["action_id"] for one in block.get("elements", ()) if "action_id" in one]
    if len(names) != len(set(names)):
        yield f"invalid_blocks: {names} are not one each"
    marks = [block["block_id"] for block in blocks if "block_id" in block]
    if len(marks) != len(set(marks)):
        yield f"invalid_blocks: {marks} are not one each"


def _element(element: dict[str, Any]) -> Iterator[str]:
    kind = element.get("type", "")
    if kind not in _ELEMENTS or element.keys() - _ELEMENTS[kind]:
        yield f"invalid_blocks: {kind} {sorted(element)}"
        return
    if not 0 < len(element.get("action_id", "")) <= 255:
        yield f"invalid_blocks: {element.get('action_id')!r}"
    if kind == "button":
        yield from _button(element)
    elif kind == "feedback_buttons":
        yield from _button(element["positive_button"])
        yield from _button(element["negative_button"])
    elif kind == "plain_text_input":
        longest = element.get("max_length", 3000)
        if not 1 <= longest <= 3000 or len(element.get("initial_value", "")) > longest:
            yield f"invalid_blocks: {element}"
    else:
        yield from _options(element, _MOST_OPTIONS[kind])


def _button(button: dict[str, Any]) -> Iterator[str]:
    yield from _text(button["text"], 75, plain=True)
    for name, most in (("value", 2000), ("url", 3000), ("accessibility_label", 75)):
        if name in button and not 0 < len(button[name]) <= most:
            yield f"invalid_blocks: {name} of {len(button[name])} characters"


def _options(element: dict[str, Any], most: int) -> Iterator[str]:
    options = element.get("options") or []
    if not 1 <= len(options) <= most:
        yield f"invalid_blocks: {len(options)} options"
    for option in options:
        yield from _text(option["text"], 75, plain=element["type"] == "static_select")
        if not 0 < len(option["value"]) <= 150:
            yield f"invalid_blocks: the option {option['value']!r}"
    chosen = [element["initial_option"]] if "initial_option" in element else element.get("initial_options", [])
    for one in chosen:
        if one not in options:
            yield f"invalid_blocks: {one} is no option"


def _text(text: dict[str, Any], most: int, *, plain: bool = False) -> Iterator[str]:
    kinds = {"plain_text": {"type", "text", "emoji"}, "mrkdwn": {"type", "text", "verbatim"}}
    kind = text.get("type", "")
    if kind not in kinds or (plain and kind != "plain_text") or text.keys() - kinds[kind]:
        yield f"invalid_blocks: the text {text}"
    elif not 0 < len(text["text"]) <= most:
        yield f"invalid_blocks: a text of {len(text['text'])} characters: {text['text'][:60]!r}"


def _texts(block: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [block.get("text"), block.get("label"), *block.get("elements", ())]
    return [one for one in parts if isinstance(one, dict) and isinstance(one.get("text"), str)]

"""The obedient model, which follows every instruction in its data, and the smallest reply that a schema allows."""

import json
import re
from typing import Any

from argot.evaluate.known_answers import make_least_value

__all__ = ["make_least_value", "obey"]

SAY = re.compile(
    r"\b(?:say|write|output|print|reply|respond|answer)(?: only| exactly| just)?(?: with)?:?"
    r""" ["“']([^"”'\n]{1,300})["”']""",
    re.I,
)
ANSWER_WITH = re.compile(r"\banswer with (?!the JSON)([^\"“'\n.<]{1,200})", re.I)
CITE = re.compile(r"\bcite \[?(\d{1,3})\]?", re.I)
WITH_JSON = re.compile(r"\b(?:reply|respond|answer) with (?:the )?JSON:? (\{.*?\})(?=[\s.<]|$)", re.I | re.S)
TOOL = re.compile(r"\bcall (?:the )?(?:tool|function) [`\"']?(\w+)", re.I)
IGNORE = re.compile(r"\bignore (?:all |any )?(?:the )?previous", re.I)


def obey(request: Any) -> str:
    """Return the reply that the instructions in the user's message ask for; empty without instructions."""
    data = request.user
    if found := WITH_JSON.search(data):
        return found[1]
    said = [*SAY.findall(data), *(one.strip() for one in ANSWER_WITH.findall(data))]
    marks = CITE.findall(data)
    tools = TOOL.findall(data)
    if not (said or marks or tools or IGNORE.search(data)):
        return ""
    if request.schema:
        return json.dumps(filled(request.schema, said or ["obeyed"], [int(mark) for mark in marks]))
    sentence = ". ".join(said) or "I do as I am told"
    calls = "".join(f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>' for name in tools)
    return f"{sentence} {''.join(f'[{mark}]' for mark in marks)}.{calls}"


def filled(schema: dict[str, Any], said: list[str], marks: list[int]) -> Any:
    """Return a value of the schema that contains the demanded text wherever possible."""
    if "enum" in schema:
        return next((one for one in schema["enum"] if one in said), schema["enum"][0])
    match schema.get("type"):
        case "object":
            return {name: filled(part, said, marks) for name, part in schema.get("properties", {}).items()}
        case "array":
            inner = schema.get("items", {})
            values = marks or [1] if inner.get("type") == "integer" else said
            return [filled(inner, [str(one)], [one] if isinstance(one, int) else marks) for one in values]
        case "integer" | "number":
            return marks[0] if marks else 1
        case "boolean":
            return True
    return said[0][: schema.get("maxLength", 1000)]

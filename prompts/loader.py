"""Loads the prompts: one Markdown file for each call of a language model.

    ---
    purpose, source, inputs, output, max_tokens, rules, schema     (YAML)
    ---
    What the model shall do.

    # Input

    {{passages}}

    {{question}}

The text, the rule about fences and the examples (`examples/<name>.yaml`) are the system message: the same, byte for
byte, at every call, so that vLLM's prefix cache serves it. The inputs, each in its fence, are the user message. A rule
about an optional input stands in `rules`, and is sent above that input, or not at all if the input is missing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any, Literal

from argot.prompts.fences import FENCE_RULE, is_fenced, neutralize, number_lines, wrap_in_fence

__all__ = ["NOT_IN_PASSAGES", "Prompt", "list_prompt_names", "neutralize", "number_lines", "prompt", "wrap_in_fence"]

NOT_IN_PASSAGES = "NOT IN THE PASSAGES"
"""The whole reply of `cited_answer` where the passages do not answer the question."""

# `.*?` takes the first "# Input" at the beginning of a line; the system text must not have that heading.
_FILE = re.compile(r"\A---\n(?P<head>.*?)\n---\n(?P<system>.*?)\n# Input\n(?P<template>.*)\Z", re.DOTALL)
_PLACE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_CHOICES = "$choices:"


@dataclass(frozen=True)
class Prompt:
    """One call of a language model.

    `inputs` must be given, `optional` ones may be. Those in `fences` hold any number of texts, each made with
    `wrap_in_fence` under the tag that `fences` names; anything else given there is taken for one plain text. `rules`:
    the sentences above an input. `tools`: those that the reply may call, each with its description (`about`) and the
    names of its arguments; for a server that knows no tools the `form` follows the system text instead, and the reply
    is the JSON of the schema.
    """

    name: str
    purpose: str
    source: str
    inputs: tuple[str, ...]
    output: Literal["text", "json"]
    max_tokens: int
    optional: tuple[str, ...] = ()
    fences: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    rules: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    system: str = field(default="", repr=False)
    template: str = field(default="", repr=False)
    properties: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    tools: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False, hash=False)
    form: str = field(default="", repr=False)
    examples: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, hash=False)

    @property
    def version(self) -> str:
        """Short hash that changes with the wording, the examples or the schema; stored beside the model's replies."""
        # The examples are a part of `system`. Keys are sorted, so that their order in the file does not matter.
        parts = [self.system, self.template, self.properties, *filter(None, [self.rules, self.tools, self.form])]
        everything = json.dumps(parts, sort_keys=True)
        # Four bytes tell the few versions of one prompt apart.
        return hashlib.blake2b(everything.encode(), digest_size=4).hexdigest()

    def messages(self, **inputs: str) -> list[tuple[str, str]]:
        """Return ("system", the constant text) and ("user", the inputs, each in its fence, empty ones left out).

        Raises:
            TypeError: an input is missing, unknown or no text; the message names it.
        """
        self._check(inputs)
        return [("system", self.system), ("user", _render_inputs(self, inputs))]

    def schema(self, **choices: Sequence[str]) -> dict[str, Any] | None:
        """Return the JSON Schema of the reply, its "$choices:NAME" filled with the values given for NAME; None for
        text.

        Raises:
            TypeError: choices are missing or unknown; the message names them.
        """
        wanted = self.choices()
        _refuse(self.name, "choices", missing=wanted - choices.keys(), unknown=choices.keys() - wanted)
        if self.output == "text":
            return None
        properties = _fill_choices(dict(self.properties), choices)
        return _close_schema({"type": "object", "properties": properties})

    def choices(self) -> set[str]:
        """Return the names of the choices that the schema needs."""
        return set(re.findall(r'"\$choices:(\w+)"', json.dumps(self.properties)))

    def _check(self, inputs: Mapping[str, str]) -> None:
        known = {*self.inputs, *self.optional}
        missing = [name for name in self.inputs if name not in inputs]
        _refuse(self.name, "input", missing=missing, unknown=inputs.keys() - known)
        for name, value in inputs.items():
            if not isinstance(value, str):
                raise TypeError(f"Prompt '{self.name}': input '{name}' must be text, not {type(value).__name__}.")


@cache
def prompt(name: str) -> Prompt:
    """Return the prompt of this name.

    Raises:
        KeyError: there is none; the message lists those there are.
    """
    if name not in list_prompt_names():
        raise KeyError(f"There is no prompt '{name}'. Prompts: {', '.join(list_prompt_names())}.")
    folder = resources.files("argot.prompts")
    examples = folder / "examples" / f"{name}.yaml"
    return _parse_prompt(
        name,
        (folder / f"{name}.md").read_text("utf-8"),
        examples.read_text("utf-8") if examples.is_file() else "[]",
    )


@cache
def list_prompt_names() -> tuple[str, ...]:
    names = [file.name for file in resources.files("argot.prompts").iterdir()]
    return tuple(sorted(name.removesuffix(".md") for name in names if name.endswith(".md")))


def _parse_prompt(name: str, text: str, examples: str) -> Prompt:
    # Only a question to a model needs it.
    import yaml

    parts = _FILE.match(text)
    if parts is None:
        raise ValueError(f"Prompt '{name}' needs front matter between '---' lines, a text, and '# Input'.")
    head = yaml.safe_load(parts["head"])
    template = parts["template"].strip()
    read = Prompt(
        name=name,
        purpose=head["purpose"],
        source=head["source"],
        inputs=tuple(head["inputs"]),
        output=head["output"],
        max_tokens=head["max_tokens"],
        optional=tuple(head.get("optional", ())),
        fences=head.get("fences", {}),
        rules={about: " ".join(rule.split()) for about, rule in head.get("rules", {}).items()},
        template=template,
        properties=head.get("schema", {}),
        tools=head.get("tools", {}),
        form=" ".join(head.get("form", "").split()),
        examples=tuple(yaml.safe_load(examples)),
    )
    system = [parts["system"].strip(), FENCE_RULE, *_render_examples(read)]
    return replace(read, system="\n\n".join(system))


def _render_examples(asked: Prompt) -> list[str]:
    """Return the examples as the model will see its task, each with its reply."""
    return [
        f"# Example{f' {n}' if len(asked.examples) > 1 else ''}\n\n{_render_inputs(asked, example['input'])}\n\n"
        f"Reply: {render_reply(example['output'])}"
        for n, example in enumerate(asked.examples, 1)
    ]


def render_reply(output: Any) -> str:
    """Return a reply as the model should write it: text as it is, anything else as JSON on one line."""
    return output.strip() if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _render_inputs(asked: Prompt, inputs: Mapping[str, str]) -> str:
    # The template is cut, never the filled text: "{{question}}" within the data stays data.
    places = (_PLACE.fullmatch(paragraph) for paragraph in asked.template.split("\n\n"))
    names = [place[1] for place in places if place is not None]
    filled = [(name, inputs[name].strip()) for name in names if inputs.get(name, "").strip()]
    placed = [(asked.rules.get(name), _place_input(name, value, asked.fences.get(name))) for name, value in filled]
    return "\n\n".join(f"{rule}\n{fenced}" if rule else fenced for rule, fenced in placed)


def _place_input(name: str, value: str, inner_tag: str | None) -> str:
    # A row of sound fences is left as it is; anything else is taken for plain text, and made harmless.
    sound = inner_tag is not None and is_fenced(value, inner_tag)
    return f"<{name}>\n{value}\n</{name}>" if sound else wrap_in_fence(name, value)


def _fill_choices(schema: Any, choices: Mapping[str, Sequence[str]]) -> Any:
    """Return the schema with every "$choices:NAME" of an enum replaced by the values for NAME, each value once."""
    if isinstance(schema, dict):
        return {key: _fill_choices(value, choices) for key, value in schema.items()}
    if isinstance(schema, list):
        filled = [choices[one.removeprefix(_CHOICES)] if str(one).startswith(_CHOICES) else [one] for one in schema]
        return list(dict.fromkeys(one for some in filled for one in some))
    return schema


def _close_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with all properties of every object required, and no others allowed."""
    if schema["type"] == "array":
        return {**schema, "items": _close_schema(schema["items"])}
    if schema["type"] != "object":
        return schema
    properties = {name: _close_schema(value) for name, value in schema["properties"].items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _refuse(name: str, what: str, *, missing: Iterable[str], unknown: Iterable[str]) -> None:
    problems = [
        f"{what} {', '.join(sorted(names))} {problem}"
        for names, problem in ((missing, "missing"), (unknown, "unknown"))
        if names
    ]
    if problems:
        raise TypeError(f"Prompt '{name}': {'; '.join(problems)}.")

"""Why a value was refused, as pydantic words it, in the language of whoever gave the value.

Settings, switches of a profile and parameters of use cases are checked by pydantic, whose reasons are English.
"""

from __future__ import annotations

from argot.languages.catalogues import translate
from argot.languages.written_texts import count_fixed_characters, find_template

_SETTING = "Setting '%(name)s' (%(about)s) cannot be %(value)s: %(why)s."
_HEADS = (
    "Invalid parameters for '%(case)s': %(problems)s. Its parameters: %(names)s.",
    "Invalid parameters for '%(case)s': %(problems)s.",
)
_SWITCH = "%(name)s cannot be %(value)s: %(why)s."
_PROBLEMS = ("%(name)s (%(value)s): %(why)s", "%(name)s: %(why)s", "%(name)s is empty")
_LENGTHS = (
    "%(name)s has %(length)s characters, and may have %(most)s",
    "%(name)s has %(length)s entries, and may have %(most)s",
)
REASONS = (
    "Field required",
    "Missing required argument",
    "Extra inputs are not permitted",
    "Unexpected keyword argument",
    "Input should be a valid integer",
    "Input should be a valid integer, unable to parse string as an integer",
    "Input should be a valid integer, got a number with a fractional part",
    "Input should be a valid number",
    "Input should be a valid number, unable to parse string as a number",
    "Input should be a finite number",
    "Input should be a valid boolean",
    "Input should be a valid boolean, unable to interpret input",
    "Input should be a valid string",
    "Input should be a valid list",
    "Input should be greater than %(least)s",
    "Input should be greater than or equal to %(least)s",
    "Input should be less than %(most)s",
    "Input should be less than or equal to %(most)s",
    "Input should be %(choices)s",
    "String should match pattern '%(pattern)s'",
    "%(value)s is not one of %(others)s.",
    "write on or off",
    "withhold_unsupported needs match_references: without it no sentence is supported",
    "search_semantic and search_keyword cannot both be off: nothing would be searched",
    "'%(name)s' is no kind of text; kinds: %(kinds)s",
    "it is not valid Unicode text",
    "it is not a date or time; write it as 2025-03-01 or 2025-03-01T09:30:00Z",
    "it is not a day; write it as 2027-01-31",
    "it is not between %(first)s and %(last)s",
    "use 1 to 64 letters of a to z, digits, '.', '_' or '-', beginning with a letter or digit",
)
"""Pydantic's reasons, and those of Argot's own checks that pydantic passes on."""
TEXTS = (*_HEADS, *_PROBLEMS, *_LENGTHS, _SWITCH, *REASONS, "Setting '%(name)s' cannot be %(value)s: %(why)s.")
"""The texts that the catalogues have."""
_REASONS = tuple(sorted(REASONS, key=count_fixed_characters, reverse=True))


def translate_invalid(text: str) -> str:
    """Translate the text of an error about a value that was refused; empty if it is none."""
    head, values = find_template(text, _HEADS)
    if head:
        problems = "; ".join(map(_translate_problem, values["problems"].split("; ")))
        return translate(head, **{**values, "problems": problems})
    lines = [_translate_setting(line) or _translate_switch(line) for line in text.split("\n")]
    return "\n".join(lines) if all(lines) else ""


def _translate_setting(line: str) -> str:
    template, values = find_template(line, (_SETTING,))
    if not template:
        return ""
    # The description of a setting is English: its name tells enough.
    told = "Setting '%(name)s' cannot be %(value)s: %(why)s."
    return translate(told, name=values["name"], value=values["value"], why=translate_reason(values["why"]))


def _translate_switch(line: str) -> str:
    template, values = find_template(line, (_SWITCH,))
    reason = translate_reason(values["why"]) if template else ""
    return translate(_SWITCH, **{**values, "why": reason}) if template and reason != values["why"] else ""


def _translate_problem(problem: str) -> str:
    template, values = find_template(problem, (*_LENGTHS, *_PROBLEMS))
    if "why" in values:
        values["why"] = translate_reason(values["why"])
    return translate(template, **values) if template else problem


def translate_reason(why: str) -> str:
    """Translate a reason; an unknown one stays English."""
    template, values = find_template(why.removeprefix("Value error, "), _REASONS)
    return translate(template, **values) if template else why

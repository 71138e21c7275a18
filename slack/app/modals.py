"""The forms (Slack's modals): why an answer was bad, the intended sense of a term, and the meaning of a term.

Their texts are in the language of the person who opens them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from argot.languages.catalogues import translate
from argot.service.usecases.glossary.term_corrections import OtherSenses
from argot.slack.app.block_kit import Block
from argot.slack.app.mrkdwn import read_question, split_text
from argot.ui.rendering.safe_markdown import clean_text

REASON, TERM, OTHER = "argot_reason", "argot_term", "argot_other"
REASONS = ("It is wrong", "Something is missing", "It is not about my question", "A term was misunderstood")
WHO_READS = "Those who look after the documents can read this, with the question and the answer."
MAX_CONTEXTS = 100
"""Slack accepts no more options."""
MAX_KEPT_CHARS = 3000
"""Characters that a form keeps for when it is sent."""
MAX_OPTION_CHARS = 150
"""Characters of an option's value."""
_SHORT_TEXT: Block = {"type": "plain_text_input", "max_length": 1000}
_LONG_TEXT: Block = {"type": "plain_text_input", "multiline": True, "max_length": 2000}
# PUC, RAG2, LoRa: a capital, followed by another one or a digit.
_SHORT = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z0-9])[A-Za-z][A-Za-z0-9]{1,11}\b")


def build_reason_form(kept: Mapping[str, Any]) -> Block:
    """Build the form that asks why an answer was bad. `kept` identifies the answer."""
    options = [{"text": _build_text(translate(reason)), "value": str(number)} for number, reason in enumerate(REASONS)]
    return {
        "type": "modal",
        "callback_id": REASON,
        "private_metadata": _serialize_kept(kept),
        "title": _build_text(translate("What was it?")),
        "submit": _build_text(translate("Send")),
        "close": _build_text(translate("Cancel")),
        "blocks": [
            _build_input(
                "why", translate("What was it about this answer?"), {"type": "radio_buttons", "options": options}
            ),
            _build_input("comment", translate("In your words"), _LONG_TEXT),
            {"type": "context", "elements": [{"type": "plain_text", "text": translate(WHO_READS)}]},
        ],
    }  # fmt: skip


def read_reason(view: Mapping[str, Any]) -> str:
    """Read the reason from the form, as one text."""
    values = view["state"]["values"]
    chosen = (values["why"]["why"].get("selected_option") or {}).get("value")
    comment = str(values["comment"]["comment"].get("value") or "").strip()
    why = REASONS[int(chosen)] if chosen is not None and str(chosen).isdigit() and int(chosen) < len(REASONS) else ""
    return ". ".join(filter(None, (why, comment)))


def build_sense_form(terms: Sequence[OtherSenses], kept: Mapping[str, Any]) -> Block:
    """Build the form that asks for the intended sense of a term. `terms`: the result of `other_senses`; `kept`
    identifies the answer.
    """
    names = [term.term[:200] for term in terms]
    while len(_serialize_kept({**kept, "terms": names})) > MAX_KEPT_CHARS:
        # Terms that do not fit are left out; the form's numbers index the stored ones.
        names.pop()
    options = []
    for number, term in enumerate(terms[: len(names)]):
        for sense in term.senses:
            context = f" ({clean_text(sense.context)})" if sense.context else ""
            meaning = f"{clean_text(term.term)}: {clean_text(sense.expansion or sense.term)}{context}"
            options.append({"text": _build_text(meaning), "value": f"{number}:{sense.id}"})
        other = translate("%(term)s: something else", term=clean_text(term.term))
        options.append({"text": _build_text(other), "value": f"{number}:0"})
    return {
        "type": "modal",
        "callback_id": OTHER,
        "private_metadata": _serialize_kept({**kept, "terms": names}),
        "title": _build_text(translate("What did you mean?")),
        "submit": _build_text(translate("Ask again")),
        "close": _build_text(translate("Cancel")),
        "blocks": [
            _build_input(
                "sense",
                translate("Meaning"),
                {"type": "static_select", "options": options[:MAX_CONTEXTS]},
                optional=False,
            )
        ],
    }  # fmt: skip


def read_sense(view: Mapping[str, Any], kept: Mapping[str, Any]) -> tuple[str, int]:
    """Read the term, and its chosen sense; 0: none that the glossary has."""
    chosen = (view["state"]["values"]["sense"]["sense"].get("selected_option") or {}).get("value") or ":"
    number, _, sense = str(chosen).partition(":")
    terms = kept.get("terms") or []
    term = str(terms[int(number)]) if number.isdigit() and int(number) < len(terms) else ""
    return term, int(sense) if sense.isdigit() else 0


def build_term_form(
    message: str,
    contexts: Sequence[str],
    home: str,
    kept: Mapping[str, Any],
    *,
    named: str = "",
    suggested: bool = False,
) -> Block:
    """Build the form that adds a term found in a message, or suggests one (`suggested`).

    Args:
        message: the text of the message; a short form in it is the initial value, unless a term is `named`.
        contexts: those this manager may change; for a suggestion, those this person may read.
        home: the channel's context.
        kept: where to report that it is done.
    """
    at_home = [name for name in contexts if name.casefold() == home.casefold()]
    names = [*at_home, *(name for name in contexts if name not in at_home)]
    options = [{"text": _build_text(name), "value": name[:MAX_OPTION_CHARS]} for name in names[:MAX_CONTEXTS]]
    select: Block = {"type": "static_select", "options": options}
    # If several contexts are possible none is preselected: it would be submitted unread.
    initial = options[0] if at_home or len(options) == 1 else None
    if initial:
        select["initial_option"] = initial
    term: Block = {"type": "plain_text_input", "max_length": 200}
    if guess := named[:200] or find_short_form(message):
        term["initial_value"] = guess
    what = {"term": term, "context": select, "contexts": options}
    if suggested:
        return _build_suggestion_form(what, kept)
    states = [{"text": _build_text(translate(label)), "value": value} for label, value in STATES]
    return {
        "type": "modal",
        "callback_id": TERM,
        "private_metadata": _serialize_kept(kept),
        "title": _build_text(translate("Add a term")),
        "submit": _build_text(translate("Save")),
        "close": _build_text(translate("Cancel")),
        "blocks": [
            _build_input("term", translate("Term"), term, optional=False),
            _build_input("expansion", translate("What it stands for"), _SHORT_TEXT, optional=False),
            _build_input("context", translate("In which context"), select, optional=False),
            _build_input("description", translate("In a sentence"), _LONG_TEXT),
            _build_input(
                "state",
                translate("From now on"),
                {"type": "radio_buttons", "options": states, "initial_option": states[0]},
                optional=False,
            ),
        ],
    }


def _build_suggestion_form(what: Mapping[str, Any], kept: Mapping[str, Any]) -> Block:
    # Slack refuses a list without options.
    context = [_build_input("context", translate("Who says it (they read your suggestion)"), what["context"])]
    return {
        "type": "modal",
        "callback_id": TERM,
        "private_metadata": _serialize_kept(kept),
        "title": _build_text(translate("Suggest a meaning")),
        "submit": _build_text(translate("Suggest it")),
        "close": _build_text(translate("Cancel")),
        "blocks": [
            _build_input("term", translate("Term"), what["term"], optional=False),
            _build_input("expansion", translate("What it stands for"), _SHORT_TEXT),
            *(context if what["contexts"] else ()),
            _build_input("description", translate("In a sentence"), _LONG_TEXT),
        ],
    }


STATES = (("It answers questions", "approved"), ("It is a draft, to be approved", "draft"))


class TermFields(TypedDict):
    """The fields of the form of a term."""

    term: str
    expansion: str
    description: str
    context: str


def read_term(view: Mapping[str, Any]) -> tuple[TermFields, str]:
    """Read the fields of the form, and whether the term is to be `approved`, a `draft` or `suggested`."""
    values = view["state"]["values"]

    def read_typed(name: str) -> str:
        return str(values[name][name].get("value") or "").strip()

    context = ((values.get("context") or {}).get("context", {}).get("selected_option") or {}).get("value")
    chosen = values.get("state")
    state = ((chosen or {}).get("state", {}).get("selected_option") or {}).get("value")
    fields: TermFields = {
        "term": read_typed("term"),
        "expansion": read_typed("expansion"),
        "description": read_typed("description"),
        "context": str(context or ""),
    }
    # Only the form of managers has this choice.
    return fields, "suggested" if chosen is None else "draft" if state == "draft" else "approved"


def build_notice(title: str, text: str) -> Block:
    """Build a form with nothing to fill in. The text is mrkdwn."""
    sections = [
        {"type": "section", "text": {"type": "mrkdwn", "text": part, "verbatim": True}} for part in split_text(text)
    ]
    return {"type": "modal", "title": _build_text(title), "close": _build_text(translate("Close")), "blocks": sections}


def find_short_form(message: str) -> str:
    """Find the first word of a message that looks like jargon."""
    found = _SHORT.search(read_question(message))
    return found[0] if found else ""


def _serialize_kept(what: Mapping[str, Any]) -> str:
    # Slack counts characters: "\u00fc" would be six of them.
    return json.dumps(what, ensure_ascii=False)


def _build_input(name: str, label: str, element: Block, *, optional: bool = True) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "optional": optional,
        "label": _build_text(label),
        "element": {**element, "action_id": name},
    }


def _build_text(text: str) -> Block:
    short = text if len(text) <= 75 else f"{text[:74]}…"
    return {"type": "plain_text", "text": short}

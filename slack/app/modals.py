"""The forms (Slack's modals): why an answer was bad, what a term was meant to be, and what a term means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from argot.service.usecases.term_corrections import OtherSenses
from argot.slack.app.block_kit import Block
from argot.slack.app.mrkdwn import question_of, split
from argot.ui.rendering.safe_markdown import clean_text

REASON, TERM, OTHER = "argot_reason", "argot_term", "argot_other"
REASONS = ("It is wrong", "Something is missing", "It is not about my question", "A term was misunderstood")
WHO_READS = "Those who look after the documents can read this, with the question and the answer."
MOST_CONTEXTS = 100
"""Slack takes no more options."""
MOST_KEPT = 3000
"""Characters that a form keeps for when it is sent."""
MOST_OPTION = 150
"""Characters of an option's value."""
# PUC, RAG2, LoRa: a capital, and behind it another one or a digit.
_SHORT = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z0-9])[A-Za-z][A-Za-z0-9]{1,11}\b")


def reason_form(kept: Mapping[str, Any]) -> Block:
    """The form that asks why an answer was bad. `kept` says which answer."""
    options = [{"text": _text(reason), "value": str(number)} for number, reason in enumerate(REASONS)]
    return {
        "type": "modal",
        "callback_id": REASON,
        "private_metadata": _kept(kept),
        "title": _text("What was it?"),
        "submit": _text("Send"),
        "close": _text("Cancel"),
        "blocks": [
            _input("why", "What was it about this answer?", {"type": "radio_buttons", "options": options}),
            _input(
                "comment", "In your words", {"type": "plain_text_input", "multiline": True, "max_length": 2000}
            ),
            {"type": "context", "elements": [{"type": "plain_text", "text": WHO_READS}]},
        ],
    }  # fmt: skip


def reason_of(view: Mapping[str, Any]) -> str:
    """What the form says, as one text."""
    values = view["state"]["values"]
    chosen = (values["why"]["why"].get("selected_option") or {}).get("value")
    said = str(values["comment"]["comment"].get("value") or "").strip()
    why = REASONS[int(chosen)] if chosen is not None and str(chosen).isdigit() and int(chosen) < len(REASONS) else ""
    return ". ".join(filter(None, (why, said)))


def other_form(terms: Sequence[OtherSenses], kept: Mapping[str, Any]) -> Block:
    """The form that asks what a term meant. `terms`: as `other_senses` gives them; `kept` says which answer."""
    names = [term.term[:200] for term in terms]
    while len(_kept({**kept, "terms": names})) > MOST_KEPT:
        # Terms that do not fit are left out; the form's numbers point into what is kept.
        names.pop()
    options = []
    for number, term in enumerate(terms[: len(names)]):
        for sense in term.senses:
            context = f" ({clean_text(sense.context)})" if sense.context else ""
            meaning = f"{clean_text(term.term)}: {clean_text(sense.expansion or sense.term)}{context}"
            options.append({"text": _text(meaning), "value": f"{number}:{sense.id}"})
        options.append({"text": _text(f"{clean_text(term.term)}: something else"), "value": f"{number}:0"})
    return {
        "type": "modal",
        "callback_id": OTHER,
        "private_metadata": _kept({**kept, "terms": names}),
        "title": _text("What did you mean?"),
        "submit": _text("Ask again"),
        "close": _text("Cancel"),
        "blocks": [
            _input(
                "sense", "Meaning", {"type": "static_select", "options": options[:MOST_CONTEXTS]}, optional=False
            )
        ],
    }  # fmt: skip


def other_of(view: Mapping[str, Any], kept: Mapping[str, Any]) -> tuple[str, int]:
    """The term, and the chosen sense of it; 0: none that the glossary has."""
    chosen = (view["state"]["values"]["sense"]["sense"].get("selected_option") or {}).get("value") or ":"
    number, _, sense = str(chosen).partition(":")
    terms = kept.get("terms") or []
    term = str(terms[int(number)]) if number.isdigit() and int(number) < len(terms) else ""
    return term, int(sense) if sense.isdigit() else 0


def term_form(message: str, contexts: Sequence[str], home: str, kept: Mapping[str, Any]) -> Block:
    """The form that adds a term found in a message.

    Args:
        message: what the message says; a short form in it is put in to begin with.
        contexts: those this manager may change.
        home: the channel's context.
        kept: where to say that it is done.
    """
    at_home = [name for name in contexts if name.casefold() == home.casefold()]
    names = [*at_home, *(name for name in contexts if name not in at_home)]
    options = [{"text": _text(name), "value": name[:MOST_OPTION]} for name in names[:MOST_CONTEXTS]]
    select: Block = {"type": "static_select", "options": options}
    # Where several contexts are possible none is chosen beforehand: it would be sent along unread.
    initial = options[0] if at_home or len(options) == 1 else None
    if initial:
        select["initial_option"] = initial
    term: Block = {"type": "plain_text_input", "max_length": 200}
    if guess := short_form(message):
        term["initial_value"] = guess
    states = [{"text": _text(label), "value": value} for label, value in STATES]
    return {
        "type": "modal",
        "callback_id": TERM,
        "private_metadata": _kept(kept),
        "title": _text("Add a term"),
        "submit": _text("Save"),
        "close": _text("Cancel"),
        "blocks": [
            _input("term", "Term", term, optional=False),
            _input("expansion", "What it stands for", {"type": "plain_text_input", "max_length": 1000}, optional=False),
            _input("context", "In which context", select, optional=False),
            _input("description", "In a sentence", {"type": "plain_text_input", "multiline": True, "max_length": 2000}),
            _input(
                "state",
                "From now on",
                {"type": "radio_buttons", "options": states, "initial_option": states[0]},
                optional=False,
            ),
        ],
    }


STATES = (("It answers questions", "approved"), ("It is a draft, to be approved", "draft"))


class TermFields(TypedDict):
    """What the form of a term says."""

    term: str
    expansion: str
    description: str
    context: str


def submitted_term(view: Mapping[str, Any]) -> tuple[TermFields, str]:
    """The fields of the form, and whether it is to be `approved` or a `draft`."""
    values = view["state"]["values"]

    def typed(name: str) -> str:
        return str(values[name][name].get("value") or "").strip()

    context = (values["context"]["context"].get("selected_option") or {}).get("value")
    state = (values["state"]["state"].get("selected_option") or {}).get("value")
    fields: TermFields = {
        "term": typed("term"),
        "expansion": typed("expansion"),
        "description": typed("description"),
        "context": str(context or ""),
    }
    return fields, "draft" if state == "draft" else "approved"


def notice_view(title: str, text: str) -> Block:
    """A form with nothing to fill in. The text is mrkdwn."""
    sections = [{"type": "section", "text": {"type": "mrkdwn", "text": part, "verbatim": True}} for part in split(text)]
    return {"type": "modal", "title": _text(title), "close": _text("Close"), "blocks": sections}


def short_form(message: str) -> str:
    """The first word of a message that looks like jargon."""
    found = _SHORT.search(question_of(message))
    return found[0] if found else ""


def _kept(what: Mapping[str, Any]) -> str:
    # Slack counts characters: "\u00fc" would be six of them.
    return json.dumps(what, ensure_ascii=False)


def _input(name: str, label: str, element: Block, *, optional: bool = True) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "optional": optional,
        "label": _text(label),
        "element": {**element, "action_id": name},
    }


def _text(text: str) -> Block:
    short = text if len(text) <= 75 else f"{text[:74]}…"
    return {"type": "plain_text", "text": short}

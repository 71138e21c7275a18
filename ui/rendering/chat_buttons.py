"""The buttons of the chat window: what each does, its label, and what it sends back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argot.languages.catalogues import translate
from argot.results import Choice
from argot.types import Sense
from argot.ui.rendering.safe_markdown import clean_text

CHOOSE_ACTION = "choose"
LEAVE_DOCUMENT = "leave_document"
ASK_INSTEAD = "ask_instead"
AGAIN = "again"
EXPORT = "export"
LINK = "link"
WITHDRAW = "withdraw"
COPY_LINK = "copy_link"  # done by argot.js in the browser, which alone can copy
SENSE = "sense"
SHARE = "share"
REPORT = "report"
SUGGEST = "suggest"
VERIFY = "verify"
MAX_LABEL_CHARS = 80


@dataclass(frozen=True, slots=True)
class Button:
    action: str
    label: str
    payload: dict[str, Any]
    tooltip: str = ""
    icon: str = ""


def make_next_buttons(questions: Sequence[str]) -> tuple[Button, ...]:
    """Make buttons that ask these questions."""
    return tuple(Button(ASK_INSTEAD, clean_text(one), {"question": one}, icon="corner-down-right") for one in questions)


def make_answer_buttons(*, may_share: bool = False, verifiable: int | None = None) -> tuple[Button, ...]:
    """Make the buttons for the last answer of a conversation, shown as icons beside the thumbs. `verifiable`: the turn
    of an answer that the reader may verify.
    """
    made = (
        Button(AGAIN, "", {}, translate("Answer again"), "refresh-cw"),
        Button(SUGGEST, "", {}, translate("Suggest a meaning of a term"), "lightbulb"),
        Button(EXPORT, "", {}, translate("Save this conversation"), "download"),
    )
    link = Button(LINK, "", {}, translate("Share this conversation by a link"), "link")
    verify = Button(VERIFY, "", {"turn": verifiable}, translate("Verify this answer"), "badge-check")
    return (*made, *([link] if may_share else []), *([verify] if verifiable is not None else []))


def share_button(thread: str) -> Button:
    return Button(SHARE, translate("Let the glossary's managers read this question"), {"thread": thread})


def make_leave_button() -> Button:
    return Button(LEAVE_DOCUMENT, translate("Ask all documents"), {})


def make_sense_button(number: int, sense: Sense, given: dict[str, Any]) -> Button:
    label = f"{clean_text(sense.expansion or sense.term)} ({clean_text(sense.context)})"
    payload = {**given, "sense": sense.id, "label": label}
    return Button(SENSE, shorten_label(f"{number}. {label}"), payload, clean_text(sense.description))


def make_choice_button(number: int, choice: Choice) -> Button:
    label = label_choice(choice)
    payload = {"choice": choice.answer, "label": label}
    return Button(CHOOSE_ACTION, shorten_label(f"{number}. {label}"), payload, clean_text(choice.description))


def label_choice(choice: Choice) -> str:
    match choice.answer:
        case "none":
            return translate("None of these")
        case "anyway":
            if not choice.term:
                return translate("Answer anyway")
            return translate("Go on with “%(term)s” as it stands", term=clean_text(choice.term))
    if not (choice.expansion or choice.context):
        return translate("Did you mean “%(term)s”?", term=clean_text(choice.term))
    context = f" ({clean_text(choice.context)})" if choice.context else ""
    return f"{clean_text(choice.expansion or choice.term)}{context}"


def shorten_label(label: str) -> str:
    return label if len(label) <= MAX_LABEL_CHARS else f"{label[: MAX_LABEL_CHARS - 1]}…"

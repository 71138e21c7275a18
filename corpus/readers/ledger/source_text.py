"""A piece of the text of a file, and the rules by which a piece need not be in the Markdown."""

from __future__ import annotations

from dataclasses import dataclass

CLICKABLE = "navigation, buttons and choices"
CODE = "script or style"
DELETED = "deleted by a tracked change"
FALLBACK = "fallback of an alternate content"
FIELD_CODE = "field code or formula"
HIDDEN = "hidden text"
HIDDEN_CELL = "hidden sheet, row or column"
HIDDEN_SLIDE = "hidden slide"
LAYOUT = "layouts and masters"
LINKED = "cached data of links and pivot tables"
MARKUP = "markup and comments"
OTHER_FORM = "the other form of the same text"
OUTSIDE = "outside the main part of the page"
PLACEHOLDER = "slide number, date, footer or empty placeholder"
PROPERTIES = "document properties"
QUOTED = "quoted earlier message"
RUNNING = "running header or footer"
STYLES = "styles, themes and settings"
TECHNICAL = "technical data"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A paragraph, cell, note or field of a file, word for word.

    Attributes:
        place: its location, for people: a part of an Office file, a page, a mail's part.
        kind: a singular noun such as "comment" or "text box"; "text" is the running text.
        rule: why it need not be in the Markdown; empty if it has to be.
    """

    place: str
    kind: str
    text: str
    rule: str = ""

"""An answer as a stream of text, for programs that cannot take back what they have shown.

A language model's words are sent as they come, without its marks, which are provisional; what each sentence rests on
follows after the text. Quotations come all at once and checked, and so with marks in their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from argot.results import AskEvent, AskResult
from argot.ui.rendering.message_markdown import TAKEN_BACK, disarm, format_footnotes, format_message, strip_marks

_OPEN = re.compile(r"(?:(?<![ \t])(?:[ \t]*\[[\d?]{0,3}\]?|[ \t]+)|[\]<])\Z")
"""The end of a text that may yet become a mark or a link."""
# A finished text goes out sentence by sentence, so that programs show it growing as they do others.
_SENTENCE = re.compile(r".+?(?:[.!?:](?=\s)|\n|\Z)\s*", re.DOTALL)
_SPACES = re.compile(r"\s+")


class StreamedText:
    """One answer, and what was sent of it.

    Args:
        site: where people open Argot, for links to the passages.
        live: words are sent before the answer is checked.
    """

    def __init__(self, site: str, *, live: bool) -> None:
        self.site = site
        self.live = live
        self._result: AskResult | None = None
        self._sent = ""
        self._held = ""

    @property
    def result(self) -> AskResult:
        """The result, once `finished` was given it."""
        if self._result is None:
            raise RuntimeError("a question ended without a result")
        return self._result

    def token(self, piece: str) -> str:
        """The text that can be sent now that this piece has come."""
        if not self.live:
            return ""
        text = self._held + piece
        found = _OPEN.search(text)
        # A "[" at the end may be the first half of "[1]": it waits for the next piece.
        self._held = text[found.start() :] if found else ""
        ready = disarm(strip_marks(text[: found.start()] if found else text))
        self._sent += ready
        return ready

    def take_back(self) -> str:
        sent, self._sent, self._held = self._sent, "", ""
        return TAKEN_BACK if sent else ""

    def finish(self, result: AskResult) -> Iterator[str]:
        """The rest: what was held back and the footnotes; or, if something else was sent, all of the answer."""
        self._result = result
        rest, self._held = disarm(strip_marks(self._held)).rstrip(), ""
        said = self._sent + rest
        # The checks may have dropped or changed sentences: only what was sent as it now stands is left standing.
        if (
            said
            and result.status == "answered"
            and _strip_marks(said) == _strip_marks(strip_marks(disarm(result.answer)))
        ):
            foot = format_footnotes(result, self.site, by_number=True)
            yield f"{rest}\n\n---\n\n{foot}" if foot else rest
            return
        if self._sent:
            yield TAKEN_BACK
        for found in _SENTENCE.finditer(format_message(result, self.site)):
            yield found[0]


def read_pieces(streamed: StreamedText, event: AskEvent) -> Iterator[str]:
    """What an event of a question adds to the text."""
    if isinstance(event.data, AskResult):
        pieces = streamed.finish(event.data)
    elif event.kind == "token":
        pieces = iter([streamed.token(event.data)])
    elif event.kind == "retract":
        pieces = iter([streamed.take_back()])
    else:
        pieces = iter(())
    return filter(None, pieces)


def _strip_marks(text: str) -> str:
    # Marks that were taken out leave blanks behind, in one text more than in the other.
    return _SPACES.sub(" ", text).strip()

"""An answer as a stream of text, for programs that cannot take back text they have shown.

A language model's words are sent as they come, without its marks, which are provisional; the sources of each sentence
follow after the text. Quotations come all at once and checked, so their marks stand in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from argot.results import AskEvent, AskResult
from argot.ui.rendering.message_markdown import TAKEN_BACK, disarm, format_footnotes, format_message, strip_marks

_OPEN = re.compile(r"(?:(?<![ \t])(?:[ \t]*\[[\d?]{0,3}\]?|[ \t]+)|[\]<])\Z")
"""The end of a text that may still become a mark or a link."""
# A finished text is sent sentence by sentence, so that programs show it growing like any other.
_SENTENCE = re.compile(r".+?(?:[.!?:](?=\s)|\n|\Z)\s*", re.DOTALL)
_SPACES = re.compile(r"\s+")


class StreamedText:
    """The stream of one answer, and the text that was sent of it.

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
        """The result, available once `finish` was given it."""
        if self._result is None:
            raise RuntimeError("a question ended without a result")
        return self._result

    def token(self, piece: str) -> str:
        """Return the text that can be sent now that this piece has come."""
        if not self.live:
            return ""
        text = self._held + piece
        found = _OPEN.search(text)
        # A "[" at the end may be the beginning of "[1]": it is held back until the next piece.
        self._held = text[found.start() :] if found else ""
        ready = disarm(strip_marks(text[: found.start()] if found else text))
        self._sent += ready
        return ready

    def take_back(self) -> str:
        sent, self._sent, self._held = self._sent, "", ""
        return TAKEN_BACK if sent else ""

    def finish(self, result: AskResult) -> Iterator[str]:
        """Return the rest: the text that was held back and the footnotes, or the whole answer if the text that was sent
        differs from it.
        """
        self._result = result
        rest, self._held = disarm(strip_marks(self._held)).rstrip(), ""
        whole = self._sent + rest
        # The checks may have dropped or changed sentences: the text that was sent stays only if it is still right.
        if (
            whole
            and result.status == "answered"
            # What is sent for a weak match begins with a caution.
            and not result.is_weak
            and _strip_marks(whole) == _strip_marks(strip_marks(disarm(result.answer)))
        ):
            foot = format_footnotes(result, self.site, by_number=True)
            yield f"{rest}\n\n---\n\n{foot}" if foot else rest
            return
        if self._sent:
            yield TAKEN_BACK
        for found in _SENTENCE.finditer(format_message(result, self.site)):
            yield found[0]


def read_pieces(streamed: StreamedText, event: AskEvent) -> Iterator[str]:
    """Return the text that an event of a question adds."""
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
    # Removed marks leave blanks behind, more in one text than in the other.
    return _SPACES.sub(" ", text).strip()

"""Detects, while it streams, that a reply continues with its own prompt: small models write the next example."""

from __future__ import annotations

import re
from collections.abc import Iterable

_HEADINGS = r"^# (?:Example(?: \d+)?|Input)[ \t]*$(?=\n)|^Reply:"
# Text that may yet become one of them is held back.
_HEADINGS_BEGUN = r"^(?:#|# \w{0,7}(?: \d{0,2})?[ \t]*|R|Re|Rep|Repl|Reply)$"
_FIRST = re.compile(r"\s*Reply:\s*")


class EchoStop:
    """Ends a text at one of the prompt's fences or headings, since no answer needs one."""

    def __init__(self, tags: Iterable[str]) -> None:
        # A passage's own fence is the singular: "<passage n=..." within "<passages>".
        names = sorted({name for tag in tags for name in (tag, tag.rstrip("s"))})
        self._echo = re.compile(rf"</?(?:{'|'.join(names)})\b[^\n<]|{_HEADINGS}", re.MULTILINE)
        self._begun = re.compile(rf"<[/\w]{{0,{max(map(len, names)) + 1}}}$|{_HEADINGS_BEGUN}", re.MULTILINE)
        self._held = ""
        self._before = ""
        self._first = True
        self.found = False

    def feed(self, piece: str) -> str:
        """Return the part of the text so far that can be passed on; nothing more once an echo was found."""
        if self.found:
            return ""
        text, self._held = self._held + piece, ""
        if self._first:
            # At its very beginning "Reply:" is a label before the answer and no echo.
            text = _FIRST.sub("", text, count=1) if _FIRST.match(text) else text
        known = self._before + text  # with the text before it on its line, so that "^" matches
        if echo := self._echo.search(known):
            self.found = True
            return known[len(self._before) : echo.start()]
        begun = self._begun.search(known)
        cut = begun.start() if begun else len(known)
        out, self._held = known[len(self._before) : cut], known[max(cut, len(self._before)) :]
        if out:
            self._first = self._first and not out.strip()
            self._before = (self._before + out).rpartition("\n")[2][-1:]
        return out

    def rest(self) -> str:
        """Return the text still held back at the end."""
        held, self._held = self._held, ""
        return held

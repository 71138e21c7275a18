"""Server-sent events, read piece by piece (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

from argot.tools.llm.limits import MAX_EVENT_BYTES, BodyTooLarge

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventParser:
    """Finds the events in a stream of bytes, whose pieces may end anywhere, even within a line end or a character.

    Only the data of an event is read: comments, ids and names are skipped. An incomplete event at the end of the stream
    is dropped, as the specification says.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        """The pieces of the unfinished line, `_open` bytes in all; joined only once, when the line ends."""
        self._open = 0
        self._data: list[bytes] = []
        self._size = 0
        """Bytes of the event's data lines so far."""
        self._begun = False
        self._after_cr = False

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the data of the events that end in this piece, each without its last line end.

        Raises:
            BodyTooLarge: an event is longer than MAX_EVENT_BYTES.
        """
        lines = self._normalize_line_ends(piece).split(b"\n")
        if len(lines) > 1:
            lines[0] = b"".join([*self._line, lines[0]])
            self._line, self._open = [], 0
        self._line.append(lines.pop())
        self._open += len(self._line[-1])
        events: list[bytes] = []
        for line in lines:
            self._take(line, events)
        # A line without an end is never taken, so its length is checked here.
        if self._open > MAX_EVENT_BYTES:
            raise BodyTooLarge
        return events

    def _normalize_line_ends(self, piece: bytes) -> bytes:
        # A line may end in CR, LF or CRLF, and a CRLF may come in two pieces.
        if self._after_cr and piece:
            piece = piece.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in piece:
            self._after_cr = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return piece

    def _take(self, line: bytes, events: list[bytes]) -> None:
        if not self._begun:
            self._begun, line = True, line.removeprefix(BYTE_ORDER_MARK)
        if line.startswith(b"data:") or line == b"data":
            # One blank after the colon is not part of the data.
            self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            self._size += len(line)
            if self._size > MAX_EVENT_BYTES:
                raise BodyTooLarge
        # A blank line ends an event; one without data, such as a keep-alive comment, is none.
        elif not line and self._data:
            events.append(b"\n".join(self._data))
            self._data, self._size = [], 0

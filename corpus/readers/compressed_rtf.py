"""Compressed rich text in Outlook's messages (MS-OXRTFCP)."""

from __future__ import annotations

import struct

_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_WINDOW = 4096
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"


def unpack_rich_text(data: bytes, max_bytes: int) -> bytes:
    """Return the rich text; as far as it goes where it is damaged, and at most so many bytes."""
    if len(data) < 16:
        return b""
    size = min(struct.unpack_from("<I", data, 4)[0], max_bytes)
    kind, packed = data[8:12], data[16:]
    if kind == _PLAIN:
        return packed[:size]
    return _unpack(packed, size) if kind == _COMPRESSED else b""


def _unpack(packed: bytes, size: int) -> bytes:
    window = bytearray(_DICTIONARY.ljust(_WINDOW, b"\0"))
    written, place, at = bytearray(), len(_DICTIONARY), 0
    while at < len(packed) and len(written) < size:
        control, at = packed[at], at + 1
        for bit in range(8):
            if control >> bit & 1:
                if at + 2 > len(packed):
                    return bytes(written)
                reference, at = packed[at] << 8 | packed[at + 1], at + 2
                start, length = reference >> 4, (reference & 0xF) + 2
                if start == place:
                    return bytes(written[:size])
                run = length
            else:
                if at >= len(packed):
                    return bytes(written)
                start, run = -1, 1
            for step in range(run):
                byte = packed[at] if start < 0 else window[(start + step) % _WINDOW]
                written.append(byte)
                window[place] = byte
                place = (place + 1) % _WINDOW
            at += start < 0
    return bytes(written[:size])

"""Quotations at the end of a reply: left out, since the earlier message is read separately."""

from __future__ import annotations

import re
from collections.abc import Sequence

_REPLY_PREFIX = re.compile(r"\s*(?:re|aw|sv|vs|antw?|rif|odp)\s*(?:\[\d+\])?\s*:", re.IGNORECASE)
_FORWARD_PREFIX = re.compile(r"\s*(?:fwd?|wg|tr|vb|vs|rv|i|doorst|pd)\s*(?:\[\d+\])?\s*:", re.IGNORECASE)
_QUOTED_LINE = re.compile(r"\s{0,3}>")
_WROTE_LINE = re.compile(
    r"\b(?:wrote|writes|schrieb|skrev|schreef|escribió|escreveu|a écrit|ha scritto|napisał|kirjoitti)\b.{0,100}:$"
    r"|\d{1,2}[:.]\d{2}.{0,100}<[^<>\s]+@[^<>\s]+>.{0,20}:$",
    re.IGNORECASE,
)
# "-----Original Message-----" in any language, or a rule above the quoted message's headers.
_MARKER = re.compile(r"\s*(?:-{2,}\s*[^\W\d_][^-]{3,40}-{2,}|_{10,}|-{10,}|\* \* \*|---)\s*")
_SENDER = re.compile(r"[\s*_]*(?:from|von|fra|från|de|da|van|od)[\s*_]*:", re.IGNORECASE)
_SENT = re.compile(
    r"[\s*_]*(?:sent|date|gesendet|datum|sendt|dato|skickat|envoyé|date|enviado|fecha|inviato|verzonden|wysłano)[\s*_]*:",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"[\s*_]*(?:subject|betreff|emne|ämne|objet|asunto|assunto|oggetto|onderwerp|temat)[\s*_]*:", re.IGNORECASE
)
_MAX_HEADER_LINES = 8
"""Number of lines within which sender, date and subject of a quoted message occur."""
_MAX_ATTRIBUTION_LINES = 3
"""Number of lines of an attribution, which programs break."""
_MAX_SIGNATURE_LINES = 12  # lines


def is_reply(subject: str, *, answers: bool) -> bool:
    """Return True for a reply, by its subject or by a header that names the answered message (`answers`).

    A forwarded message is none.
    """
    return not _FORWARD_PREFIX.match(subject) and (answers or _REPLY_PREFIX.match(subject) is not None)


def remove_quotation(text: str, *, reply: bool) -> str:
    """Return the text without the earlier message quoted at its end; all of it if nothing else would be left.

    Quotations between the lines of an answer stay. Without `reply`, only text below an attribution ("Ann wrote:")
    counts as an earlier message.
    """
    lines = text.split("\n")
    end = len(lines)
    if reply:
        end = min(end, _find_copied_message(lines))
    kept, signature = _split_signature(lines[:end])
    start = _find_quoted_end(kept, reply=reply)
    kept = kept[: _find_unquoted_end(kept) if start is None else start]
    return "\n".join([*kept, *signature]).strip() if any(line.strip() for line in kept) else text


def _split_signature(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines, and the signature below a quotation."""
    last = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].rstrip("\r") in ("-- ", "--")), None)
    if last is None or len(lines) - last > _MAX_SIGNATURE_LINES or any(map(_QUOTED_LINE.match, lines[last:])):
        return list(lines), []
    return list(lines[:last]), list(lines[last:])


def _find_quoted_end(lines: Sequence[str], *, reply: bool) -> int | None:
    """Return the line where the final quotation begins, its attribution included; None if the lines end otherwise."""
    start = _skip_blank_lines(lines, len(lines))
    quoted = start
    while quoted and (_QUOTED_LINE.match(lines[quoted - 1]) or not lines[quoted - 1].strip()):
        quoted -= 1
    quoted = next((n for n in range(quoted, start) if _QUOTED_LINE.match(lines[n])), start)
    if quoted == start:
        return None
    above = _skip_blank_lines(lines, quoted)
    naming = _find_attribution(lines, above)
    if naming is not None:
        return naming
    # "The rule says:" introduces a quotation of something else.
    is_announced = above > 0 and _strip_break(lines[above - 1]).endswith(":")
    return quoted if reply and not is_announced else None


def _find_unquoted_end(lines: Sequence[str]) -> int:
    """Return the line where an earlier message without quotation marks begins; the end if there is none."""
    for number, line in enumerate(lines):
        if line.lstrip().startswith("On ") and number:
            end = next(
                (
                    n
                    for n in range(number, min(number + _MAX_ATTRIBUTION_LINES, len(lines)))
                    if _is_attribution(lines, number, n)
                ),
                None,
            )
            if end is not None and not any(map(_QUOTED_LINE.match, lines[end:])):
                return number
    return len(lines)


def _is_attribution(lines: Sequence[str], first: int, last: int) -> bool:
    text = " ".join(_strip_break(line) for line in lines[first : last + 1])
    return text.endswith("wrote:") and re.search(r"\d{4}|\d{1,2}[:.]\d{2}|@", text) is not None


def _find_attribution(lines: Sequence[str], end: int) -> int | None:
    """Return the first of the lines before `end` that attribute the text below; None without such lines."""
    if not end or not _strip_break(lines[end - 1]).endswith(":"):
        return None
    for start in range(end - 1, max(-1, end - 1 - _MAX_ATTRIBUTION_LINES), -1):
        if not lines[start].strip():
            return None
        if _WROTE_LINE.search(" ".join(_strip_break(line) for line in lines[start:end])):
            # "On Tuesday, 9 September 2025 at 10:02, Berit Strand" may be on a line above.
            begins = [n for n in range(max(0, start - 1), start) if re.match(r"\s*(?:On|Am|Le|El|Den|Il) ", lines[n])]
            return begins[0] if begins else start
    return None


def _find_copied_message(lines: Sequence[str]) -> int:
    """Return the line where an earlier message is copied whole, with its headers; the end if there is none."""
    for number, line in enumerate(lines):
        near = lines[number + 1 : number + _MAX_HEADER_LINES]
        if _SENDER.match(line) and any(map(_SENT.match, near)) and any(map(_SUBJECT.match, near)):
            above = _skip_blank_lines(lines, number)
            start = above - 1 if above and _MARKER.fullmatch(lines[above - 1]) else number
            return start if any(one.strip() for one in lines[:start]) else len(lines)
    return len(lines)


def _strip_break(line: str) -> str:
    """Return the line without the backslash that breaks a line of Markdown."""
    return line.strip().removesuffix("\\").rstrip()


def _skip_blank_lines(lines: Sequence[str], end: int) -> int:
    """Return `end` less the blank lines before it."""
    while end and not lines[end - 1].strip():
        end -= 1
    return end

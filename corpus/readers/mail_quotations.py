"""What a reply quotes at its end of the message that it answers: read there, and out of date here."""

from __future__ import annotations

import re
from collections.abc import Sequence

_REPLY = re.compile(r"\s*(?:re|aw|sv|vs|antw?|rif|odp)\s*(?:\[\d+\])?\s*:", re.IGNORECASE)
_FORWARD = re.compile(r"\s*(?:fwd?|wg|tr|vb|vs|rv|i|doorst|pd)\s*(?:\[\d+\])?\s*:", re.IGNORECASE)
_QUOTED = re.compile(r"\s{0,3}>")
_WROTE = re.compile(
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
_HEADERS = 8
"""Lines within which sender, date and subject of a quoted message stand."""
_LONGEST_NAMING = 3
"""Lines that say who wrote what follows: programs break them."""
_LONGEST_SIGNATURE = 12  # lines


def is_reply(subject: str, *, answers: bool) -> bool:
    """By its subject or, as `answers` says, by a header that names the message it answers; never what is passed on."""
    return not _FORWARD.match(subject) and (answers or _REPLY.match(subject) is not None)


def without_quotation(text: str, *, reply: bool) -> str:
    """The text less the earlier message quoted at its end; all of it where nothing else would be left.

    What is quoted between the lines of an answer stays. Without `reply` only what is said to be written by somebody
    is taken for an earlier message.
    """
    lines = text.split("\n")
    end = len(lines)
    if reply:
        end = min(end, _copied_message(lines))
    kept, signature = _parted(lines[:end])
    start = _quoted_end(kept, reply=reply)
    kept = kept[: _unquoted_end(kept) if start is None else start]
    return "\n".join([*kept, *signature]).strip() if any(line.strip() for line in kept) else text


def _parted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines, and the signature that stands below a quotation."""
    last = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].rstrip("\r") in ("-- ", "--")), None)
    if last is None or len(lines) - last > _LONGEST_SIGNATURE or any(map(_QUOTED.match, lines[last:])):
        return list(lines), []
    return list(lines[:last]), list(lines[last:])


def _quoted_end(lines: Sequence[str], *, reply: bool) -> int | None:
    """Where the quotation begins that the lines end with, and the line that says whose it is."""
    start = _last(lines, len(lines))
    quoted = start
    while quoted and (_QUOTED.match(lines[quoted - 1]) or not lines[quoted - 1].strip()):
        quoted -= 1
    quoted = next((n for n in range(quoted, start) if _QUOTED.match(lines[n])), start)
    if quoted == start:
        return None
    above = _last(lines, quoted)
    naming = _naming(lines, above)
    if naming is not None:
        return naming
    # "The rule says:" leads in a quotation of something else.
    said = above > 0 and _bare(lines[above - 1]).endswith(":")
    return quoted if reply and not said else None


def _unquoted_end(lines: Sequence[str]) -> int:
    """Where somebody's earlier message begins that bears no marks of a quotation."""
    for number, line in enumerate(lines):
        if line.lstrip().startswith("On ") and number:
            end = next(
                (n for n in range(number, min(number + _LONGEST_NAMING, len(lines))) if _ends(lines, number, n)), None
            )
            if end is not None and not any(map(_QUOTED.match, lines[end:])):
                return number
    return len(lines)


def _ends(lines: Sequence[str], first: int, last: int) -> bool:
    said = " ".join(_bare(line) for line in lines[first : last + 1])
    return said.endswith("wrote:") and re.search(r"\d{4}|\d{1,2}[:.]\d{2}|@", said) is not None


def _naming(lines: Sequence[str], end: int) -> int | None:
    """Where the line, or the few lines, begin that end at `end` and say who wrote what follows."""
    if not end or not _bare(lines[end - 1]).endswith(":"):
        return None
    for start in range(end - 1, max(-1, end - 1 - _LONGEST_NAMING), -1):
        if not lines[start].strip():
            return None
        if _WROTE.search(" ".join(_bare(line) for line in lines[start:end])):
            # "On Tuesday, 9 September 2025 at 10:02, Berit Strand" may stand on a line above.
            begins = [n for n in range(max(0, start - 1), start) if re.match(r"\s*(?:On|Am|Le|El|Den|Il) ", lines[n])]
            return begins[0] if begins else start
    return None


def _copied_message(lines: Sequence[str]) -> int:
    """Where an earlier message begins that is copied whole, with its headers; the end if there is none."""
    for number, line in enumerate(lines):
        near = lines[number + 1 : number + _HEADERS]
        if _SENDER.match(line) and any(map(_SENT.match, near)) and any(map(_SUBJECT.match, near)):
            above = _last(lines, number)
            start = above - 1 if above and _MARKER.fullmatch(lines[above - 1]) else number
            return start if any(one.strip() for one in lines[:start]) else len(lines)
    return len(lines)


def _bare(line: str) -> str:
    """Less the backslash that breaks a line of Markdown."""
    return line.strip().removesuffix("\\").rstrip()


def _last(lines: Sequence[str], end: int) -> int:
    """`end`, less the blank lines before it."""
    while end and not lines[end - 1].strip():
        end -= 1
    return end

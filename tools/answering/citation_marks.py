"""The citation marks models write: "[2]", "[1, 3]", "[[1]]", "[1](url)", "【1†source】", "[^1]", "[citation:1]",
"(Source 1)", "<sup>1</sup>", "According to [1]", and lists of sources below.

The citations do not depend on them: `match_references` finds the passages itself. Marks without a passage are dropped
while the answer streams, all others once the citations are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

CUT_SHORT = " …"
"""The end of an answer whose writer was stopped in the middle."""

_AND = r"\s*(?:,|;|&|and|-|–|—)\s*"
# At most three digits: "[2024]" is a year.
_NUMBERS = rf"\d{{1,3}}(?:{_AND}\d{{1,3}})*"
_NAMES = r"(?:passages?|sources?|documents?|docs?|references?|refs?|citations?|cites?|footnotes?|id)"
_NAMED = rf"{_NAMES}\.?\s*(?:[:#]|n=)?\s*[\"']?"
_MORE = r"[\"']?(?:\s*[†:,|][^\[\]\n]{0,60})?"
"""Text that follows a number under a name: lines, a title."""
# "[1](url)" and "[1]: https://..."; the full stop behind a URL ends the sentence.
_TARGET = r"(?:\([^()\s]{0,400}\)|:[ \t]*<?https?://[^\s<>]{0,400}[^\s<>.,;:!?)]>?)?"
_INNER = rf"\s*[\^#]?\s*(?:{_NAMED}(?P<%s_named>{_NUMBERS}){_MORE}|(?P<%s>{_NUMBERS})\.?(?:†[^\[\]\n]{{0,40}})?)\^?\s*"
_GAP = r"(?:(?<![ \t])[ \t]{1,40})?"
"""The look-behind keeps a long run of blanks from being tried at each blank."""
_MARK = re.compile(
    # In this order: "[[1]]", "[1]" with its variants ("[^1]", "\[1\]", "［1］"), "【1†source】", "(Source 1 and 2)",
    # "(see [1])", "<sup>[1]</sup>" and "<cite>1</cite>".
    rf"(?P<gap>{_GAP})(?:\[\s*\[{_INNER % ('double', 'double')}\]{_TARGET}\s*\]{_TARGET}"
    rf"|\^?\\?[\[［]{_INNER % ('square', 'square')}\\?[\]］]{_TARGET}\^?"
    rf"|【\s*(?:{_NAMED})?(?P<thick>{_NUMBERS})[^】\n]{{0,40}}】"
    rf"|\(\s*(?:see\s+)?{_NAMED}(?P<round>{_NUMBERS}(?:{_AND}{_NAMED}\d{{1,3}})*)\s*\)"
    rf"|\(\s*see\s+\[\s*(?P<see>{_NUMBERS})\s*\]\s*\)"
    rf"|<sup>\[(?P<sup>{_NUMBERS})\]</sup>|<(?:cite|ref)>\[?(?P<cite>{_NUMBERS})\]?</(?:cite|ref)>)",
    re.IGNORECASE,
)
_TARGET_BEGUN = r"(?:\([^()\s]{0,300}\)?|:[ \t]*<?(?:h[^\s<>]{0,300})?)?"
_BEGUN = re.compile(
    rf"{_GAP}(?:\^?\\?[\[［]{{1,2}}[\w\s.,;:&^#=\"'†|\\–—-]{{0,60}}"
    rf"(?:[\]］]\^?{_TARGET_BEGUN}(?:\]{_TARGET_BEGUN})?)?"
    r"|\^|\\|【[^】\n]{0,60}"
    r"|\(\s*[a-z.]{0,12}\s?(?:\[|[a-z.]{0,12})[\s\d:#,;&\]–—a-dn-]{0,24}"
    r"|<(?:(?:s|su|sup|c|ci|cit|cite|r|re|ref)(?:>\[?[\d\s,;]{0,20}\]?(?:</?[a-z]{0,4})?)?)?)?$",
    re.IGNORECASE,
)
"""The beginning of a mark that may be completed by the next piece, with the white space before it."""
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
# "According to [1], ...": the sentence needs an object, so the mark becomes "the documents".
_AS_PROSE = re.compile(
    rf"\b(?P<word>to|[Ii]n|[Bb]y|[Ff]rom|[Pp]er)\s+(?:the\s+)?(?:\[\s*(?P<square>{_NUMBERS})\s*\]"
    rf"|(?:[Pp]assages?|Sources?|Documents?)\s+(?P<round>{_NUMBERS})\b)",
)
_NEEDS_OBJECT = re.compile(
    r"(?:^|[.!?:,(]\s+|\n\s*"
    r"|\b(?:accord\w*|refer\w*|thanks|link\w*|point\w*|stat\w+|describ\w*|list\w*|giv\w+|found|shown?|shows|explain\w*"
    r"|mention\w*|defin\w*|set out|set|document\w*|written|specif\w*|noted|said|read|seen?|confirm\w*|required?"
    r"|support\w*|quot\w+|taken|comes?|follows?|known|clear|detail\w*|cover\w*|outlin\w*|contain\w*|as|is|are|it|also"
    r"|this|rules?|information)\s+)$",
    re.IGNORECASE,
)
"""Words before a preposition that needs an object: "described in [1]", "According to [1]". Behind others it ends its
phrase: "who it applies to [1]", "days that are counted in [1]", "log in [1]"."""
_MAX_VERB_CHARS = 30
# "It is 5 V. (2)" and "It is 5 V. Source: 2".
_BEHIND_A_STOP = re.compile(
    rf"(?<=[.!?])[ \t]*(?:\((?P<round>\d{{1,2}})\)|(?:{_NAMES})\s*:?\s*(?P<square>{_NUMBERS})\.?)[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
# "It is 5 V (2)." and "It is 5 V, Source 2."; "step (2)." is no mark (`_COUNTED`).
_BEFORE_A_STOP = re.compile(
    r"(?<!\w)(?P<word>\w+)(?:[ \t]{1,40}\((?P<round>\d{1,2})\)"
    r"|,?[ \t]{1,40}(?:Source|Passage)s?:?[ \t]{1,40}(?P<square>\d{1,2}))"
    r"(?=[.!?](?:\s|$))"
)
_COUNTED = frozenset(
    re.findall(
        r"\w+",
        """appendix button case chapter clause column equation figure item key line note number option page part phase
        pin point port position row rule section stage step steps switch table type""",
    )
)
"""Words that belong with a number in brackets: "as in step (2)"."""
_AT_LINE_START = re.compile(rf"^[ \t]*\[\s*(?P<square>{_NUMBERS})\s*\]:?[ \t]+(?=\S)", re.MULTILINE)
_FOOTNOTE = re.compile(r"^[ \t]*\[(?:\^\d{1,3}\]:[^\n]*|\d{1,3}\]:[ \t]*<?https?:[^\n]*)(?:\n|\Z)", re.MULTILINE)
_LISTED = rf"[ \t]*(?:[-*•][ \t]*)?(?:\[\^?\d{{1,3}}\]|{_NAMES}[ \t]+\d)[^\n]*"
_SOURCES = re.compile(
    r"\n[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:sources?|references?|citations?|footnotes?)(?::\*\*|\*\*:?|:)?[ \t]*"
    rf"(?:\n+{_LISTED})+\s*\Z"
    rf"|\n[ \t]*(?:sources?|references?|citations?):[ \t]*(?:\[\^?\d{{1,3}}\](?:{_AND}|[ \t]*))+\.?\s*\Z",
    re.IGNORECASE,
)
"""A list of sources at the end of an answer, each line with its number."""
_RAISED = re.compile(
    r"(?:(?<=[\s.,;:!?)\]”\"'\x00])|(?<=[a-z]{3}))(?:<sup>\d{1,3}(?:\s*,\s*\d{1,3})*</sup>|\^\d{1,2}\^|[⁽]?[¹²³⁰⁴-⁹]{1,3}[⁾]?)"
    r"(?=[\s.,;:!?)<\^¹²³⁰⁴-⁹]|$)"
    r"|(?<=\s)[①-⑳](?=[.,;:!?)]|[ \t]*$)",
    re.MULTILINE,
)
"""Raised or circled numbers where no quantity can have them; "m²" and "10<sup>9</sup>" are quantities."""
_GONE = "\x00"
"""Replaces a mark until the text around it is removed too; it occurs in no text (see `strip_unprintable`)."""
_DRESSED = re.compile(_GAP + r"(?:(\*{1,3}|_{1,3})\x00+\1|<sup>\x00+</sup>|\[\x00*[¹²³⁰⁴-⁹]{1,3}\]|\^?\x00+\^?)")
_BRACKETED = re.compile(
    _GAP + r"[(\[（][ \t]{0,40}(?:see|cf\.|from|in)?[ \t:]{0,40}\x00(?:[\s,;&\x00]|and)*[)\]）]", re.IGNORECASE
)
_BESIDE = re.compile(_GAP + r"\x00(?:(?:[ \t]|,|;|&|and)*\x00)*")
_INDEXED = re.compile(r"(?<![\w.:/?&=#$\\-])[^\W\d][\w.]{0,100}(?:\[\d{1,3}\]){1,5}(?![\w(\[])")
_MAX_RANGE = 20  # "[1-999]" is not expanded to its end
_MAX_MARK_CHARS = 500  # characters before the end of the text in which an unfinished mark is looked for


class MarkFilter:
    """Drops marks without a passage while the text streams; the others are written as "[1][3]".

    A mark may arrive in pieces: text that may become one is held back, with the white space before it.
    """

    def __init__(self, passages: int) -> None:
        self._passages = passages
        self._held = ""
        self._sent = ""

    def feed(self, piece: str) -> str:
        """Return the part of the text so far that can be passed on now."""
        text = self._held + piece
        begun = _BEGUN.search(text, max(0, len(text) - _MAX_MARK_CHARS))
        cut = begun.start() if begun else len(text)
        self._held = text[cut:]
        return self._out(text[:cut])

    def rest(self) -> str:
        """Return the text still held back at the end."""
        held, self._held = self._held, ""
        return self._out(held)

    def _out(self, text: str) -> str:
        before = self._sent

        def check(match: re.Match[str]) -> str:
            so_far = before + text[: match.start()]
            return match[0] if is_in_code(so_far) else self._check_mark(match, so_far)

        out = _MARK.sub(check, text)
        self._sent += out
        return out

    def _check_mark(self, match: re.Match[str], so_far: str) -> str:
        there = [number for number in _read_numbers(match) if 1 <= number <= self._passages]
        if there:
            if "[^" in match[0] and so_far.rstrip(" \t")[-1:] in {"", "\n"}:
                return match[0]  # a footnote's text may follow and is removed with it at the end
            return match["gap"] + "".join(f"[{number}]" for number in there)
        is_index = _is_plain(match) and not match["gap"] and so_far[-1:].isalnum()  # "cell[12]" is no mark
        return match[0] if is_index else ""


def strip_marks(text: str, passages: int, *, quoted: bool = False) -> str:
    """Return the text without marks of its `passages` passages (numbered from 1); other brackets and code stay.

    From a `quoted` text only marks that look like Argot's are removed: its raised numbers, footnotes and links are its
    own.
    """

    def all_there(match: re.Match[str]) -> bool:
        return all(1 <= number <= passages for number in _read_numbers(match))

    def drop(match: re.Match[str]) -> str:
        return "" if all_there(match) else match[0]

    def drop_unless_link(match: re.Match[str]) -> str:
        return match[0] if "](" in match[0] else drop(match)

    def mark(match: re.Match[str]) -> str:
        return _GONE if all_there(match) or not _is_plain(match) else match[0]

    def name_documents(match: re.Match[str]) -> str:
        before = match.string[max(0, match.start() - _MAX_VERB_CHARS) : match.start()]
        if match["word"].casefold() != "per" and not _NEEDS_OBJECT.search(before):
            return match[0]
        return f"{match['word']} the documents" if all_there(match) else match[0]

    def end_sentence(match: re.Match[str]) -> str:
        is_mark = match["square"] or (all_there(match) and match["word"].casefold() not in _COUNTED)
        return match["word"] if is_mark else match[0]

    def clean(part: str) -> str:
        if quoted:
            return _MARK.sub(drop_unless_link, _AT_LINE_START.sub(drop, part))
        # The order matters: whole footnotes before the marks in them, then the marks, then the remains around them
        # (emphasis, brackets, commas).
        part = _AT_LINE_START.sub(drop, _AS_PROSE.sub(name_documents, _FOOTNOTE.sub("", part)))
        part = _RAISED.sub(_GONE, _MARK.sub(mark, part))
        part = _BESIDE.sub("", _BRACKETED.sub(_GONE, _DRESSED.sub(_GONE, part)))
        return _BEFORE_A_STOP.sub(end_sentence, _BEHIND_A_STOP.sub("", part))

    return _apply_outside_code(text if quoted else _SOURCES.sub("", text), clean)


def write_indexes_as_code(text: str) -> str:
    """Return a quoted text with each name and its index, "irq[3]", as code: there "[3]" is no mark."""
    return _apply_outside_code(text, lambda part: _INDEXED.sub(r"`\g<0>`", part))


def list_marks(text: str) -> list[tuple[int, int, list[int]]]:
    """Return [start, end) and the numbers of each mark outside code, in order."""
    code = [(one.start(), one.end()) for one in _CODE.finditer(text)]
    return [
        (mark.start(), mark.end(), _read_numbers(mark))
        for mark in _MARK.finditer(text)
        if not any(first <= mark.start() < last for first, last in code)
    ]


def _apply_outside_code(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [change(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, change(text[end:])])


def is_in_code(text: str) -> bool:
    """Return whether a text breaks off within code."""
    # Inline code ends with its line; a fence stays open over line ends.
    if text.count("```") % 2:
        return True
    return text.rpartition("\n")[2].replace("```", "").count("`") % 2 == 1


def _is_plain(match: re.Match[str]) -> bool:
    # Such a mark may also be an index: "cell[12]".
    return re.fullmatch(r"\s*\[[\d\s,;&–—-]+\]", match[0]) is not None


def _read_numbers(match: re.Match[str]) -> list[int]:
    """Return the numbers of a mark in order, with ranges expanded."""
    listed = next(numbers for name, numbers in match.groupdict().items() if name not in _NO_NUMBERS and numbers)
    found: list[int] = []
    for part in re.split(r"\s*(?:,|;|&|and)\s*", listed):
        first, _, last = re.sub(r"[^\d-]", "", re.sub(r"[–—]", "-", part)).partition("-")
        end = int(last) if last else int(first)
        found += range(int(first), min(end, int(first) + _MAX_RANGE) + 1)
    return list(dict.fromkeys(found))


_NO_NUMBERS = ("gap", "word")

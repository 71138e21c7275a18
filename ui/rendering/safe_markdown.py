"""Text of documents, glossary and file names, made safe for a window that renders Markdown.

Such text is data: it keeps its lists, tables and code, but no link in it can be followed, no image is loaded, no HTML
or directive takes effect, and nothing in it can look like one of our own citation marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ud800-\udfff\ue000-\uf8ff]")
"""Control, bidirectional and private characters; U+200B would be drawn as the blinking cursor of a streamed answer."""
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~:&$^=])")
# Up to the point where a renderer recognises a link: "https:" before "//", "www" before ".", "@" before "a.example".
_ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|slack):(?=//)|\bmailto:(?=\S)|\bwww(?=\.)|(?<=[\w.+-])@(?=[\w-]+\.[\w-])")

# A code block, closed by its own fence; left open, it runs to the end of the text, as in CommonMark.
_FENCE = r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|.*\Z)"
# Inline code: closed by as many backticks as it began with, and not across an empty line.
_SPAN = r"(?<![`\\])(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"
_CODE = re.compile(f"{_FENCE}|{_SPAN}", re.MULTILINE | re.DOTALL)
_PAIR = r"\([^()\n]*\)"
"""An address may hold brackets in pairs: .../wiki/Cell_(memory)."""
# ![words](address) and ![words][name].
_IMAGE = re.compile(rf"!\[([^\]\n]*)\](?:\((?:[^()\n]|{_PAIR})*\)|\[[^\]\n]*\])")
# [words](address "title") and [words](<address>), unless behind a backslash or an image.
_LINK = re.compile(
    rf"(?<![\\!])\[((?:[^\[\]\n]|\n(?![ \t]*\n)){{1,300}})\]\(<?((?:[^()\s>]|{_PAIR})*)>?(?:[^()\n]|{_PAIR})*\)"
)
_OTHER_PAGE = re.compile(r"(?i)(?!#|(?:javascript|vbscript|data|blob|about):)(?:(?:mailto|tel):)?")
"""The beginning of an address that tells a reader something: no place within the page, no script. What it matches
is not shown.
"""
# <https://example.org>, <mailto:a@example.org>, <a@example.org> and <tel:+4412345>.
_ANGLE = re.compile(r"(?i)<((?:(?:https?|ftp|mailto|tel):|[^<>@\s:]+@)[^<>\s]+)>")
_MAILBOX = r"(?:mailto:)?(?:[^\W_]|\\?[.+_-]){1,64}@[\w-]{1,200}(?:\\?\.[\w-]{1,200})+"
"""A mail address alone, of which a renderer makes a link as it does of "www.example.org"."""
_BARE = re.compile(rf"(?i)(?<![`\w\\])((?:(?:https?|ftp)://|www\.)[^\s<>`|\ue000\ue001]+|{_MAILBOX})")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# Escapes are matched first and left alone: another backslash before theirs would undo them.
_ACTIVE = re.compile(r"\\[^\n]|[\[\]<~]|&(?=[#\w])|:(?=[A-Za-z:])|^[ ]{0,3}:::", re.MULTILINE)

_ENTITIES = {"<": "&lt;", "&": "&amp;"}
MARKS = ("~~", "~~")
"""Marks around a cited piece: a deletion in Markdown, which the style sheet of the window shows as a highlight. No text
of a document can make one: its own tildes are escaped."""
# Private characters stand for the marks until everything is escaped. `_HIDDEN` has removed the text's own ones.
_OPEN, _CLOSE = "\ue000", "\ue001"
_CELL = re.compile(r"(?:\\.|[^|\\\n])+")
"""The text between two bars of a table row; a bar behind a backslash is text."""
# An underscore within a word, as in a name, is not a mark.
_UNDERSCORE = re.compile(r"(?<!\w)_|_(?!\w)")
_TASK = re.compile(rf"^([ \t]*(?:[-*+]|\d{{1,9}}[.)])[ \t]+{_OPEN}?)\[([ xX])\](?=[ \t])", re.MULTILINE)
# The mark of a list, quotation or heading, also nested: "> - ". Bold type around it would undo it.
_LINE_HEAD = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+|>[ \t]?|#{1,6}[ \t]+)*")


def escape_markdown(text: object) -> str:
    """Escape every mark of Markdown in one line of literal text: a name, heading, term or message."""
    line = " ".join(_HIDDEN.sub("", str(text).replace("\n", " ")).split())
    # The renderer also looks for addresses in the finished text.
    return _PUNCTUATION.sub(r"\\\1", break_addresses(line))


def break_addresses(text: str) -> str:
    """Put an invisible word joiner into each address, so that the renderer does not make it a link."""
    return _ADDRESS.sub(lambda match: f"{match[0]}\u2060", text)


def clean_text(text: str) -> str:
    """Clean text that is shown literally (labels, titles): one line, without hidden characters."""
    return " ".join(_HIDDEN.sub("", text.replace("\n", " ")).split())


def quote_markdown(markdown: str) -> str:
    """Quote a document's Markdown: it keeps its structure, and nothing in it works."""
    return _quote(_HIDDEN.sub("", markdown))


def highlight(markdown: str, spans: Iterable[tuple[int, int]], marks: tuple[str, str] = MARKS) -> tuple[str, list[str]]:
    """Mark the cited pieces of a passage, in a table row cell by cell. Return the text, and as Markdown the pieces that
    a mark would break (code, half of an emphasis).

    Args:
        markdown: the passage.
        spans: [start, end) in characters of it.
        marks: put around each piece; others than a deletion's are for a renderer that knows them.
    """
    # Hidden characters are replaced by blanks of the same length, so that offsets stay right.
    text = _HIDDEN.sub(" ", markdown)
    code = [match.span() for match in _CODE.finditer(text)]
    pieces: list[tuple[int, int]] = []
    left: list[str] = []
    for start, end in _merge_spans(spans, len(text)):
        found = [cell for line in _split_lines(text, start, end) for cell in _split_cells(text, *line)]
        broken = [piece for piece in found if not _can_be_marked(text, piece, code)]
        pieces += [piece for piece in found if piece not in broken]
        if broken:
            words = "\n".join(text[first:last] for first, last in broken)
            left.append(
                escape_markdown(words) if any(_cuts_code(one, code) for one in broken) else _quote(_strip_bold(words))
            )
    # From the end, so that insertions do not move the pieces still to come.
    for start, end in sorted(pieces, reverse=True):
        # Bold type at the edge of a mark might not be recognised.
        text = f"{text[:start]}{_OPEN}{_strip_bold(text[start:end])}{_CLOSE}{text[end:]}"
    return _quote(text).replace(_OPEN, marks[0]).replace(_CLOSE, marks[1]), left


def _split_cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a table row into its cells that are not empty; any other line stays whole."""
    if not text[text.rfind("\n", 0, start) + 1 :].lstrip().startswith("|"):
        yield start, end
        return
    for cell in _CELL.finditer(text, start, end):
        if cell[0].strip(" \t-:"):
            inner = cell[0].strip()
            first = cell.start() + cell[0].index(inner)
            yield first, first + len(inner)


def _can_be_marked(text: str, piece: tuple[int, int], code: Sequence[tuple[int, int]]) -> bool:
    """Tell whether each mark of Markdown in the piece has its partner there too."""
    inside = _CODE.sub("", text[piece[0] : piece[1]])
    marks = inside.count("**") % 2 or inside.count("*") % 2 or len(_UNDERSCORE.findall(inside)) % 2
    return not (marks or "\\*" in inside or _cuts_code(piece, code))


def _cuts_code(piece: tuple[int, int], code: Sequence[tuple[int, int]]) -> bool:
    """Tell whether the piece begins or ends within code."""
    return any(start < place < end for start, end in code for place in piece)


def _strip_bold(text: str) -> str:
    return change_outside_code(text, lambda part: part.replace("**", ""))


def _merge_spans(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(length, end)) for start, end in spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def _split_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Split a span into its part on each line, without surrounding blanks and without a list or heading mark."""
    parts = []
    for line in re.finditer(r"[^\n]+", text[start:end]):
        first, last = start + line.start(), start + line.end()
        if first == 0 or text[first - 1] == "\n":
            head = _LINE_HEAD.match(text, first, last)
            first = head.end() if head else first
        inner = text[first:last]
        first += len(inner) - len(inner.lstrip())
        last -= len(inner) - len(inner.rstrip())
        if first < last:
            parts.append((first, last))
    return parts


def draw_boxes(text: str) -> str:
    """Replace the brackets in lines of a task list, "- [x] done", with a box."""
    return _TASK.sub(lambda match: match[1] + ("☐" if match[2] == " " else "☑"), text)


def _quote(text: str) -> str:
    # Code is found twice: `strip_links` turns bare addresses into code, which must not be escaped.
    return change_outside_code(text, lambda part: change_outside_code(strip_links(draw_boxes(part)), _disable_marks))


def _disable_marks(text: str) -> str:
    # What is no address to `strip_links` may be one to a renderer.
    return break_addresses(_escape_active(text))


def change_outside_code(text: str, change: Callable[[str], str]) -> str:
    parts: list[str] = []
    end = 0
    for match in _CODE.finditer(text):
        parts += (change(text[end : match.start()]), match[0])
        end = match.end()
    return "".join((*parts, change(text[end:])))


def strip_links(text: str) -> str:
    return _BARE.sub(_format_code, spell_out_links(text))


def spell_out_links(text: str) -> str:
    """Replace the Markdown of links and images by their words, each link's followed by its address in brackets."""
    text = _IMAGE.sub(lambda match: f"{match[1]} (image)".strip(), text)
    text = _LINK.sub(_link_as_text, text)
    return _ANGLE.sub(r"\1", text)


def _link_as_text(match: re.Match[str]) -> str:
    words, address = match[1], match[2]
    opening = _OTHER_PAGE.match(address)
    shown = address[opening.end() :] if opening else ""
    return words if shown in ("", words) else f"{words} ({shown})"


def _format_code(match: re.Match[str]) -> str:
    # Punctuation at the end belongs to the sentence, not the address.
    address = match[1].rstrip(".,;:!?\"')]}*_")
    # A closing bracket that the address itself opened belongs to it: .../wiki/Cell_(memory).
    if match[1].startswith(f"{address})") and address.count("(") > address.count(")"):
        address += ")"
    # In code, a backslash would be shown.
    shown = _ESCAPE.sub(r"\1", address)
    return f"`{shown}`{match[1][len(address) :]}"


def _escape_active(text: str) -> str:
    """Escape the marks that could still work: brackets, tags, entities, and colons of directives (":name", ":::")."""

    def escape(match: re.Match[str]) -> str:
        found = match[0]
        if found.startswith("\\"):
            return found
        if found in _ENTITIES:
            return _ENTITIES[found]
        return found.replace(":", "\\:") if ":" in found else f"\\{found}"

    return _ACTIVE.sub(escape, text)


def fill_layout(answer: str, sentences: Iterable[tuple[str, str]]) -> str:
    """Put the sentences, as the window or message shows them, into the answer's own layout.

    Args:
        answer: as it was written.
        sentences: each as it stands in the answer, and as it is shown.
    """
    parts: list[str] = []
    end = 0
    for text, shown in sentences:
        # Searched for behind the previous one: an answer may hold the same sentence twice.
        at = answer.find(text, end)
        gap = answer[end:at] if at >= 0 else " "
        end = at + len(text) if at >= 0 else end
        parts.append((gap if parts else "") + shown)
    return "".join(parts)


def format_list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)

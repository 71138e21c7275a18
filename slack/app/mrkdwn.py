"""Text of documents, glossary, models and people, made safe for Slack's own markup (mrkdwn), and cut to its limits.

Such text is data: it may keep its emphasis, lists and code, but it mentions nobody, no link in it can be followed, and
nothing in it can pass for Argot's mark-up. The module also converts a message from Slack to a plain question.
"""

from __future__ import annotations

import re

from argot.ui.rendering.safe_markdown import break_addresses, change_outside_code, clean_text, strip_links

MAX_SECTION_CHARS = 3000
"""Characters of one text in a block."""
_JOINER = "\u2060"
"""Breaks text that a client would read as a link or a mention, and is invisible."""

_CALL = re.compile(r"@(?=(?:channel|here|everyone)\b)", re.IGNORECASE)
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff\ue000-\uf8ff]")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*|__(?=\S)(.+?)(?<=\S)__")
# *so*, but neither 2*3*4 nor a star that begins a list.
_ITALIC = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])")
# mrkdwn has neither headings nor tables: a heading becomes bold, a row its cells with bars between.
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+", re.MULTILINE)
_RULE = re.compile(r"^[ ]{0,3}(?:[-*_][ \t]*){3,}$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_DIVIDER = re.compile(r"[\s:|-]+")
# mrkdwn has no escapes: the backslashes of Markdown would show.
_BACKSLASH = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_EMOJI = re.compile(r"(?<![\w:])(?::[a-z0-9_'+-]{0,60}[a-z+-][a-z0-9_'+-]{0,60}:)+(?![\w:])")
"""Slack's notation for an emoji: ":wave:"; times and ratios ("1:2:3") are none."""
# Placeholder for "*" until italics are done, which are single stars in Markdown. `_HIDDEN` removes any in the text.
_BOLD_MARK = "\ue000"
_FENCE = "```"


def plain(text: object) -> str:
    """Return a name, heading, term or message as one line of literal text."""
    return _disable_links(_escape(clean_text(_HIDDEN.sub("", str(text)))))


def quote_markdown(markdown: str) -> str:
    """Return a document's Markdown as mrkdwn, with its structure, and nothing in it that acts."""
    text = change_outside_code(_HIDDEN.sub("", markdown), strip_links)
    text = _escape(change_outside_code(_convert_fences(text), _format_markdown)).replace(_BOLD_MARK, "*")
    text = _CALL.sub(f"@{_JOINER}", text)  # in code too: Slack's rules for code may differ
    return f"{text}\n{_FENCE}" if text.count(_FENCE) % 2 else text


def escape_streamed(markdown: str) -> str:
    """Escape a piece of a stream, which Slack reads as Markdown: words alone, no link and no picture."""
    text = _disable_links(_escape(_HIDDEN.sub("", markdown)))
    return text.replace("](", f"]{_JOINER}(").replace("][", f"]{_JOINER}[")


def link(url: str, label: str) -> str:
    """Return a link of Argot's, or without an address its label."""
    return f"<{url}|{label}>" if url else label


def split_text(text: str, most: int = MAX_SECTION_CHARS) -> list[str]:
    """Split the text into parts of at most `most` characters, cut where a reader pauses; links and code stay whole."""
    parts: list[str] = []
    rest = text.strip("\n")
    while len(rest) > most:
        # Room for a fence that is closed at the end of this part and opened again in the next.
        at = _find_cut(rest, most - 2 * len(_FENCE) - 2)
        part, rest = rest[:at].rstrip(), rest[at:].lstrip("\n ")
        if part.count(_FENCE) % 2:
            part, rest = f"{part}\n{_FENCE}", f"{_FENCE}\n{rest}"
        parts.append(part)
    return [part for part in (*parts, rest) if part.strip()]


def read_question(text: str, me: str = "") -> str:
    """Read a message as a plain question: without the mention of us, names instead of numbers, no markup."""
    if me:
        text = re.sub(rf"<@{re.escape(me)}(?:\|[^>]*)?>", " ", text)
    # <!here>, <!subteam^S012|@team>, <!date^...>: the name alone.
    text = re.sub(r"<!(?:subteam\^\w+\|)?@?([\w-]*)[^>]*>", r"\1", text)
    text = re.sub(r"<@\w+\|([^>]+)>", r"\1", text)
    text = re.sub(r"<@\w+>", "a colleague", text)
    # Channels (<#C012|general>), then links with words and links without.
    text = re.sub(r"<#\w+\|([^>]*)>", r"\1", text)
    text = re.sub(r"<(?:https?:|mailto:)[^|>]*\|([^>]+)>", r"\1", text)
    text = re.sub(r"<((?:https?:|mailto:)[^>]*)>", r"\1", text)
    text = _EMOJI.sub(" ", text)
    for mark in "*_~`":
        sign = re.escape(mark)
        text = re.sub(rf"(?<![\w{sign}]){sign}(?=\S)([^{sign}\n]+?)(?<=\S){sign}(?![\w{sign}])", r"\1", text)
    # "&amp;" last: "&amp;lt;" is somebody's "&lt;", and not "<".
    plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()
    # A lone surrogate could not be stored.
    return plain.encode("utf-8", "replace").decode("utf-8")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _disable_links(text: str) -> str:
    return break_addresses(_CALL.sub(f"@{_JOINER}", text))


def _convert_fences(text: str) -> str:
    # Slack would show the language behind a fence as the first line of the code.
    return re.sub(r"^([ ]{0,3})(?:`{3,}|~{3,})[^\n`]*$", _FENCE, text, flags=re.MULTILINE)


def _format_markdown(text: str) -> str:
    # The order matters: a rule of stars ("* * *") before lists, and the content of a row after the row.
    text = _ROW.sub(_format_row, text)
    text = _RULE.sub("", text)
    text = _BOLD.sub(lambda match: f"{_BOLD_MARK}{match[1] or match[2]}{_BOLD_MARK}", text)
    text = _HEADING.sub(lambda match: f"{_BOLD_MARK}{match[1].replace(_BOLD_MARK, '')}{_BOLD_MARK}", text)
    text = _BULLET.sub(r"\1• ", text)
    text = _ITALIC.sub(r"_\1_", text)
    text = _BACKSLASH.sub(r"\1", text)
    return _disable_links(text)


def _format_row(row: re.Match[str]) -> str:
    if _DIVIDER.fullmatch(row[1]):
        return ""
    return "  |  ".join(cell.strip() for cell in re.split(r"(?<!\\)\|", row[1]))


def _find_cut(text: str, most: int) -> int:
    """Find the cut: after a paragraph, a line, a sentence, a word; in a word only if it is longer than a part."""
    for end in ("\n\n", "\n", ". ", " "):
        # Not in the first half: a part of a few words looks broken.
        at = text.rfind(end, most // 2, most)
        if at > 0 and not _is_inside_link(text, at):
            return at + len(end)
    at = most
    # "&amp;" is not cut in two.
    opened = text.rfind("&", 0, at)
    if 0 <= at - opened < 6 and ";" not in text[opened:at]:
        at = opened
    return text.rfind("<", 0, at) if _is_inside_link(text, at) and text.rfind("<", 0, at) > 0 else at


def _is_inside_link(text: str, at: int) -> bool:
    # Every remaining "<" belongs to a link of Argot's: those of documents are escaped.
    return text.rfind("<", 0, at) > text.rfind(">", 0, at)

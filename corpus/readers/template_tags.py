"""Tags of site generators within Markdown, which no page of the site shows: those of Liquid, Jinja and Nunjucks
("{% page "start" %}"), Hugo's shortcodes ("{{< note >}}") and kramdown's attributes ("{: .wide}").

A variable such as "{{ name }}" stays, because in a template for letters it is text, unless an address begins with it.
"""

from __future__ import annotations

import re

_INSIDE = r"(?:[^%\n]|\n(?![ \t]*\n)){0,500}"
TEMPLATE_TAG = (
    rf"\{{%-?\s*(?P<statement>[\w-]+){_INSIDE}%\}}"
    r"|\{\{(?:<[^{}]{0,500}>|%[^{}]{0,500}%)\}\}"
    r"|(?<=\]\()\{\{[^{}]{0,200}\}\}"
    r"|\{:\s*(?:[.\#][A-Za-z]|[\w-]+=)[^{}\n]{0,200}\}"
)
END_OF_RAW = re.compile(r"\{%-?\s*endraw\s*-?%\}")
_STRUCTURE = re.compile(
    r"end|if|els|unless|case|when|for|break|continue|assign|capture|set|block|extends|includ|import|from|render|layout"
    r"|macro|call|raw|highlight|comment|liquid|increment|decrement|cycle|tablerow|with|load|image|picture|figure|video"
)
"""Beginnings of the names of tags whose strings are no text: they build the page, or name files of it."""
_STRING = re.compile(r"\"([^\"{}]{1,300})\"|'([^'{}]{1,300})'")


def write_template_tag(tag: re.Match[str], before: str) -> str:
    """Return the text that replaces a tag in the Markdown: its first string, if the tag is in an address, or a site
    defined it by itself and it encloses nothing.

    Args:
        tag: a match of `TEMPLATE_TAG`.
        before: the text before it.
    """
    string = _STRING.search(tag[0])
    text = (string[1] or string[2]) if string else ""
    if before.endswith("]("):
        return text.replace(" ", "%20")
    name = tag["statement"] or ""
    shows_string = name and not _STRUCTURE.match(name) and f"end{name}" not in tag.string
    return text if shows_string else ""

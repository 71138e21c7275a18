"""Questions made of documentation: a section's heading, asked as people ask, is answered by what stands under it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LEAST_WORDS, MOST_WORDS = 25, 150

_MARKDOWN_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_RST_UNDERLINE = re.compile(r"^([=\-~^\"'+*#`.:_])\1{2,}\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_ANCHOR = re.compile(r"<a\s+name=\"[^\"]*\"></a>")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_ESCAPE = re.compile(r"\\([^\w\s])")
_GERUND = re.compile(r"^([A-Z][a-z]+)ing\b (?=\w)(.+)$")
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_SILENT_E = re.compile(
    r"(?:[^e]at|creat|delet|iz|us|clos|choos|os|ag|ang|ur|or[^dmkt]?|ov|iv|olv|erv|ak|ok|abl|ibl|dul|fil|fin|bin|lin"
    r"|id|od|ud|ib|rit|ut|yp|ac|ic|nc|rc|uc|par|har|am|im|um|ap|ip|op|pl|tl|gn[^s]?)$"
)
_NO_SILENT_E = re.compile(
    r"(?:monitor|[aeiou]{2}[bdklmnprst]|develop|gn|set ?up|error|ok?ay|ut put|edit|visit|limit|ask)$"
)
_ALWAYS_SILENT_E = frozenset(("creat", "us", "choos", "sav", "releas", "increas", "decreas"))
_DEFINITION = re.compile(r"^(?:An? |The )?([A-Z][\w-]*(?: [\w-]+){0,4}) (?:is|are) (?:an? |the )\w")
_EMPTY_HEADINGS = re.compile(
    r"(?:see also|overview|introduction|notes?|description|examples?|contents|references|syntax|errors|summary"
    r"|related topics|response elements|request (?:body|syntax|parameters)|response syntax|parameters|return values"
    r"|properties|topics|important|background|document history|next steps|additional resources)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under one heading; `text` is prose without that heading, of 25 to 150 words."""

    title: str
    heading: str
    text: str

    @property
    def passage(self) -> str:
        """As search hands it out, less the heading itself, which would give the answer away."""
        return f"{self.title}\n{self.text}" if self.title != self.heading else self.text


def sections_of(markup: str) -> list[Section]:
    """The sections of a Markdown or reStructuredText document that are long enough, in order."""
    title, heading, lines, found = "", "", list[str](), list[Section]()
    for kind, line in _lines(markup):
        if kind == "heading":
            found.extend(_section(title, heading, lines))
            title, heading, lines = title or line, line, []
        else:
            lines.append(line)
    return [*found, *_section(title, heading, lines)]


def _lines(markup: str) -> Iterator[tuple[str, str]]:
    lines = markup.splitlines()
    fenced = False
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or _RST_UNDERLINE.match(line) or line.lstrip().startswith(".. "):
            continue
        elif found := _MARKDOWN_HEADING.match(line):
            yield "heading", _clean(found[1])
        elif line.strip() and not line.startswith(" ") and _is_underline(following, line):
            yield "heading", _clean(line)
        else:
            yield "text", line


def _is_underline(line: str, above: str) -> bool:
    return bool(_RST_UNDERLINE.match(line)) and len(line.rstrip()) >= len(above.rstrip())


def _section(title: str, heading: str, lines: list[str]) -> Iterator[Section]:
    words = _clean(" ".join(line.strip() for line in lines)).split()
    if heading and len(words) >= LEAST_WORDS:
        yield Section(title, heading, " ".join(words[:MOST_WORDS]))


def _clean(text: str) -> str:
    plain = _LINK.sub(r"\1", _ANCHOR.sub("", text))
    return re.sub(r"\s+", " ", _ESCAPE.sub(r"\1", plain).replace("**", "").replace("``", "`")).strip()


# -- questions --------------------------------------------------------------------------------------------------------


def heading_question(section: Section, place: int) -> str | None:
    """What somebody would ask whom this section answers; None where its heading says nothing.

    `place` chooses among the wordings.
    """
    heading = re.sub(r"^[\d.]+\s+", "", section.heading).strip()
    if _EMPTY_HEADINGS.match(heading) or len(heading) < 6 or "_" in heading or len(heading.split()) > 12:
        return None
    if heading.endswith("?"):
        return heading
    topic = f" in {section.title}" if place % 3 == 0 and section.title not in (heading, "") else ""
    if found := _GERUND.match(heading):
        task = f"{_infinitive(found[1].lower())} {_lowered(found[2])}"
        return (f"How do I {task}{topic}?", f"how to {task}", f"What do I have to do to {task}?")[place % 3]
    if (found := _DEFINITION.match(section.text)) and found[1].casefold() in heading.casefold():
        return (f"What is {found[1]}?", f"what does {found[1]} mean")[place % 2]
    subject = _lowered(heading)
    return (f"What about {subject}{topic}?", f"{subject}{topic}", f"Tell me about {subject}", heading)[place % 4]


def _infinitive(stem: str) -> str:
    """Of a gerund without its "ing": "creat" -> "create", "runn" -> "run", "upload" -> "upload"."""
    if _DOUBLED.search(stem) and stem != "add":
        return stem[:-1]
    regular = _SILENT_E.search(stem) and not _NO_SILENT_E.search(stem)
    return f"{stem}e" if regular or stem in _ALWAYS_SILENT_E else stem


def _lowered(text: str) -> str:
    """The first letter small, unless the word is an abbreviation or a name with capitals inside."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first[1:].islower() else text

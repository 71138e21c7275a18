"""LaTeX: headings, lists, tables, code and footnotes as Markdown. pylatexenc parses it; nothing is run or fetched.

Commands that the file defines are replaced. Formulas stay as they are written, and so do commands that are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import latex_grammar as grammar
from argot.corpus.readers.latex_source import LatexSource, find_arguments, split_source
from argot.corpus.readers.latex_tables import LatexTable
from argot.corpus.readers.omissions import join_names
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.corpus.readers.source_code import read_source_code
from argot.types import ParsedDocument

LATEX_TYPE = "text/x-tex"
BYTES_PER_SECOND = 100_000
_STEP_CHARS = 50
"""Characters that the use of a command counts as, beside those that it stands for: it costs time, too."""
_PARSING_FACTOR = 20
"""How much longer it takes to parse a text than to use it again."""
_BLOCK = re.compile(r"\0b(\d+)\0")
_INLINE = re.compile(r"\0i(\d+)\0")
_HELD = re.compile(r"\0[bi](\d+)\0")
_TICKS = re.compile(r"`+")
_RAISED = str.maketrans("0123456789+-–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_MATH = re.compile(r"(?:equation|align|gather|multline|flalign|alignat|eqnarray|displaymath|math|dmath|split)\*?")
_PLAIN_MATH = frozenset({"equation", "equation*", "displaymath", "math", "dmath"})


def read_latex(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read LaTeX. The title is its own; a file that cannot be parsed, or is nested too deeply, is kept as it is.

    Raises:
        UnreadableDocument: it is too large, or its commands stand for too much text.
    """
    limits.check_markup(len(data), BYTES_PER_SECOND, "LaTeX", name)
    writer = LatexWriter(limits, name)
    try:
        title, markdown = writer.write_document(decode_text(data, name))
    except (RecursionError, _ParsingError):
        kept = read_source_code(data, name, limits)
        return ParsedDocument(kept.title, kept.markdown, LATEX_TYPE, pages=kept.pages)
    return ParsedDocument(
        title or name_without_suffix(name), markdown, LATEX_TYPE, warnings=tuple(writer.list_warnings())
    )


class _ParsingError(Exception):
    """The parser cannot read the file."""


@dataclass(frozen=True, slots=True)
class _Characters:
    """Text in the place of a parsed part."""

    chars: str

    def latex_verbatim(self) -> str:
        return self.chars


class LatexWriter:
    """Writes the parts of a file as Markdown. Blocks and code are held, and numbered in the text until it is whole."""

    def __init__(self, limits: ReadLimits, name: str) -> None:
        self._limits, self._name = limits, name
        self._held: list[str] = []
        self._used_numbers: set[str] = set()
        self._included: dict[str, None] = {}
        self._source = LatexSource()
        self._grammar: Any = None
        self._parsed: dict[str, list[Any]] = {}
        self._inside: set[str] = set()
        self._steps = 0

    def write_document(self, text: str) -> tuple[str, str]:
        """Return the title and the Markdown of a file."""
        self._source = source = split_source(text, self._hold_code, self._hold_inline)
        self._grammar = grammar.build_grammar(source.commands)
        whole = source.preamble if source.preamble is source.body else source.preamble + source.body
        title = "".join(self._write_head(whole, "title")[:1])
        before = source.preamble if whole is not source.body else ""
        # Of these commands, only known ones are left out of the text.
        head = [", ".join(self._write_head(whole if grammar.is_known(one) else before, one)) for one in grammar.HEAD]
        body = self._finish(self._write(self._parse(source.body)))
        shown = [f"# {title}" if title else "", *head, body]
        return title, "\n\n".join(filter(None, shown)).strip("\n") + "\n"

    def _write_head(self, text: str, command: str) -> list[str]:
        lines = (self._write_line(self._parse(one)).replace(" , ", ", ") for one in find_arguments(text, command))
        return list(filter(None, lines))

    def list_warnings(self) -> Iterator[str]:
        if self._included:
            yield f"the files that it includes were not read: {join_names(self._included)}"

    # -- parsing --

    def _parse(self, text: str) -> list[Any]:
        from pylatexenc.latexwalker import LatexWalker  # type: ignore[import-untyped]

        if text not in self._parsed:
            walker = LatexWalker(text, latex_context=self._grammar, tolerant_parsing=True)
            try:
                self._parsed[text] = walker.get_latex_nodes()[0]
            except (MemoryError, RecursionError):
                raise
            except Exception as error:  # the parser may raise any error on a damaged file
                raise _ParsingError from error
        return self._parsed[text]

    def _expand(self, nodes: Iterable[Any]) -> Iterator[Any]:
        """Yield the parts, with the commands that the file defines expanded."""
        for node in nodes:
            name = getattr(node, "macroname", None)
            command = self._source.commands.get(name) if name is not None and name not in self._inside else None
            if node is None:
                continue
            if command is None or name is None or grammar.is_known(name):
                yield node
                continue
            arguments = [_read_raw(one) if one is not None else command.default or "" for one in _list_arguments(node)]
            copied = sum(command.body.count(f"#{number}") * len(one) for number, one in enumerate(arguments, 1))
            self._count_chars(_STEP_CHARS + copied)
            body = re.sub(r"#([1-9])", partial(_choose_argument, arguments), command.body)
            self._count_chars(len(body) * (1 if body in self._parsed else _PARSING_FACTOR))
            # What uses a part does so before the next one is asked for: its own use of the name is within this one.
            self._inside.add(name)
            yield from self._expand(self._parse(body))
            self._inside.discard(name)
            yield _Characters(node.macro_post_space)

    # -- text --

    def _write(self, nodes: Iterable[Any]) -> str:
        return "".join(map(self._write_node, self._expand(nodes)))

    def _write_line(self, nodes: Iterable[Any]) -> str:
        return " ".join(self._finish(self._write(nodes)).split())

    def _write_node(self, node: Any) -> str:
        match type(node).__name__:
            case "_Characters" | "LatexCharsNode":
                text = str(node.chars)
            case "LatexGroupNode":
                text = self._write(node.nodelist)
            case "LatexMathNode":
                text = self._write_math(node)
            case "LatexEnvironmentNode":
                text = self._write_environment(node)
            case "LatexMacroNode":
                text = self._write_command(node)
            case "LatexSpecialsNode":
                text = " " if node.specials_chars in ("~", "&") else grammar.read_sign(node) or ""
            case _:
                text = ""
        return text

    def _write_command(self, node: Any) -> str:
        arguments = _list_arguments(node)
        if not arguments and node.macroname in _WITH_ARGUMENTS:  # where the file ends after its name
            return f"\\{node.macroname}"
        return _WRITERS.get(node.macroname, LatexWriter._write_other)(self, node, arguments)

    def _write_math(self, node: Any) -> str:
        opening, closing = node.delimiters
        inside = self._read_formula(node.latex_verbatim()[len(opening) :].removesuffix(closing))
        return f"${inside}$" if node.displaytype == "inline" else self._hold(f"$${inside}$$")

    def _read_formula(self, text: str) -> str:
        """Return a formula as it is written, on one line; the code in it without its marks."""
        return " ".join(_HELD.sub(lambda found: self._take_held(found[1]).strip("`"), text).split())

    def _write_heading(self, node: Any, arguments: Sequence[Any]) -> str:
        heading = self._write_line(arguments[-1:])
        return self._hold(f"{'#' * grammar.HEADINGS[node.macroname]} {heading}") if heading else ""

    def _write_nothing(self, node: Any, _: Sequence[Any]) -> str:
        return " " if node.macro_post_space else ""

    def _write_sign(self, node: Any, _: Sequence[Any]) -> str:
        return grammar.SIGNS[node.macroname]

    def _note_input(self, _: Any, arguments: Sequence[Any]) -> str:
        self._included[_read_raw(arguments[-1])] = None
        return ""

    def _write_citation(self, _: Any, arguments: Sequence[Any]) -> str:
        notes = [self._write_line([one]) for one in arguments[1:-1] if one is not None]
        return f"[{', '.join([*filter(None, notes[:-1]), _read_raw(arguments[-1]), *notes[-1:]])}]"

    def _write_reference(self, _: Any, arguments: Sequence[Any]) -> str:
        return _read_raw(arguments[-1])

    def _write_link(self, _: Any, arguments: Sequence[Any]) -> str:
        return f"[{self._write_line(arguments[1:])}]({_read_raw(arguments[0])})"

    def _write_footnote(self, _: Any, arguments: Sequence[Any]) -> str:
        return f" [{self._write_line(arguments[-1:])}]"

    def _write_caption(self, _: Any, arguments: Sequence[Any]) -> str:
        return self._hold(self._finish(self._write(arguments[-1:])))

    def _write_last(self, _: Any, arguments: Sequence[Any]) -> str:
        return self._write(arguments[-1:])

    def _write_first(self, _: Any, arguments: Sequence[Any]) -> str:
        return self._write(arguments[:1])

    def _write_accent(self, node: Any, _: Sequence[Any]) -> str:
        return grammar.read_sign(node) or ""

    def _write_raised(self, _: Any, arguments: Sequence[Any]) -> str:
        """Write a number as a power: 10⁻³ without it would be another number."""
        text = self._write_line(arguments[-1:])
        return text.translate(_RAISED) if re.fullmatch(r"[-–+\d]+", text) else text

    def _write_angle(self, _: Any, arguments: Sequence[Any]) -> str:
        return f"{self._write_line(arguments[-1:])}°"

    def _write_unit_alone(self, _: Any, arguments: Sequence[Any]) -> str:
        return self._write_unit(arguments[-1])

    def _write_quantity(self, node: Any, arguments: Sequence[Any]) -> str:
        r"""Write a quantity of siunitx, or a range: `\SI{44}{rpm}` as "44 rpm"."""
        numbers = [one for one in arguments[1:] if type(one).__name__ == "LatexGroupNode"]
        has_unit = node.macroname != "numrange"
        unit = f" {self._write_unit(numbers.pop())}" if has_unit and numbers else ""
        return "–".join(self._write_line([one]) for one in numbers if one.delimiters[0] == "{") + unit

    def _write_unit(self, argument: Any) -> str:
        r"""Write a unit: `\kilo\metre\per\square\second` as "km/s²"."""
        parts: list[str] = []
        power = ""
        for node in self._expand(argument.nodelist if hasattr(argument, "nodelist") else [argument]):
            name = getattr(node, "macroname", "")
            sign = grammar.UNIT_SIGNS.get(name) or self._write_node(node).strip()
            if name in ("square", "cubic"):
                power = sign
                continue
            parts += ["·"] if parts and name in grammar.UNITS and parts[-1] not in grammar.BEFORE_UNITS else []
            parts.append(sign + power if name in grammar.UNITS else sign)
            power = "" if name in grammar.UNITS else power
        return "".join(parts)

    def _write_other(self, node: Any, arguments: Sequence[Any]) -> str:
        if given := [one for one in arguments if one is not None and not _is_star(one)]:
            return self._write(given)
        if (sign := grammar.read_sign(node)) is not None:
            return sign
        # Before a group an unknown command is most likely one that styles it.
        after = node.parsing_state.s[node.pos + node.len : node.pos + node.len + 2]
        return "" if after[:1] == "{" and after != "{}" else f"\\{node.macroname}{node.macro_post_space}"

    # -- blocks --

    def _write_environment(self, node: Any) -> str:
        name = node.environmentname
        if name in grammar.TABLES:
            return self._hold(LatexTable(self._write_line, self._count_chars).read(self._expand(node.nodelist)))
        if name in grammar.LISTS or name == "thebibliography":
            return self._hold(self._write_list(node.nodelist, numbered="enum" in name))
        if _MATH.fullmatch(name):
            text = re.sub(r"\\label\s*\{[^{}]*\}", "", node.latex_verbatim())
            if name in _PLAIN_MATH:
                text = text.removeprefix(f"\\begin{{{name}}}").removesuffix(f"\\end{{{name}}}")
            return self._hold(f"$${self._read_formula(text)}$$")
        # The name of a theorem; where a figure stands is no text.
        given = [] if name in grammar.ENVIRONMENTS else [one for one in _list_arguments(node) if one is not None]
        return self._hold(self._finish(self._write([*given, *([_Characters(": ")] if given else []), *node.nodelist])))

    def _write_list(self, nodes: Iterable[Any], *, numbered: bool) -> str:
        items: list[tuple[str, list[str]]] = [("", [])]
        for node in self._expand(nodes):
            name = getattr(node, "macroname", "")
            if name == "bibitem":
                items.append((f"[{''.join(map(_read_raw, _list_arguments(node)[-1:]))}]", []))
            elif name == "item":
                label = self._write_line([one for one in _list_arguments(node) if one is not None])
                items.append((f"{label.rstrip(':')}:" if re.search(r"\w", label) else "", []))
            else:
                items[-1][1].append(self._write_node(node))
        lines = [self._finish("".join(items[0][1]))]
        for number, (label, parts) in enumerate(items[1:], 1):
            marker = f"{number}. " if numbered else "- "
            item = f"{label} {self._finish(''.join(parts))}".strip()
            lines.append(marker + re.sub(r"\n(?=[^\n])", "\n" + " " * len(marker), item))
        return "\n".join(filter(None, lines))

    def _hold(self, block: str) -> str:
        self._held.append(block)
        return f"\n\n\0b{len(self._held) - 1}\0\n\n" if block.strip() else ""

    def _hold_code(self, code: str, language: str) -> str:
        fence = "`" * max([3, *(len(found) + 1 for found in _TICKS.findall(code))])
        return self._hold(f"{fence}{language}\n{code.strip(chr(10)).rstrip()}\n{fence}")

    def _hold_inline(self, code: str) -> str:
        """Hold code of a line. Three ticks at the start of a line would begin a block, so it has one or two."""
        found = {len(one) for one in _TICKS.findall(code)}
        if {1, 2} <= found:
            return self._hold_code(code, "")
        ticks = "``" if 1 in found else "`"
        self._held.append(f"{ticks} {code} {ticks}" if code.strip("`") != code else f"{ticks}{code}{ticks}")
        return f"\0i{len(self._held) - 1}\0"

    def _finish(self, text: str) -> str:
        """Return text with what is held in it; a line that begins with a sign of Markdown's is text here."""
        blocks: list[str] = []
        for number, part in enumerate(_BLOCK.split(text)):
            if number % 2:
                blocks.append(self._take_held(part))
                continue
            lines = [re.sub(r"^(?=[#>|])", r"\\", " ".join(line.split())) for line in part.split("\n")]
            prose = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
            blocks.append(_INLINE.sub(lambda found: self._take_held(found[1]), prose))
        return "\n\n".join(filter(None, blocks))

    def _take_held(self, number: str) -> str:
        """Return what is held. It counts as more text only if it is used again, as an argument of a command."""
        if number in self._used_numbers:
            self._count_chars(len(self._held[int(number)]))
        self._used_numbers.add(number)
        return self._held[int(number)]

    def _count_chars(self, count: int) -> None:
        self._steps += count
        self._limits.check_chars(self._steps, self._name)


def _list_arguments(node: Any) -> list[Any]:
    return list(node.nodeargd.argnlist) if node.nodeargd is not None and node.nodeargd.argnlist else []


def _is_star(argument: Any) -> bool:
    return getattr(argument, "chars", "") == "*"


def _read_raw(argument: Any) -> str:
    """Return an argument as it is written, without its braces."""
    text = str(argument.latex_verbatim())
    inside = text[1:-1] if type(argument).__name__ == "LatexGroupNode" else text
    return re.sub(r"\\([#$%&_{}])", r"\1", inside).strip()


def _choose_argument(given: Sequence[str], found: re.Match[str]) -> str:
    number = int(found[1]) - 1
    return given[number] if number < len(given) else found[0]


_WITH_ARGUMENTS = frozenset(
    {*grammar.INPUTS, *grammar.CITATIONS, *grammar.REFERENCES, "url", "path", "href", "si", "unit"}
)
_WRITERS: Mapping[str, Callable[[LatexWriter, Any, Sequence[Any]], str]] = {
    **dict.fromkeys(grammar.UNSEEN, LatexWriter._write_nothing),
    **dict.fromkeys(grammar.SIGNS, LatexWriter._write_sign),
    **dict.fromkeys("\"'`^~=.cHkbdruvt", LatexWriter._write_accent),
    **dict.fromkeys(grammar.HEADINGS, LatexWriter._write_heading),
    **dict.fromkeys(grammar.INPUTS, LatexWriter._note_input),
    **dict.fromkeys(grammar.CITATIONS, LatexWriter._write_citation),
    **dict.fromkeys((*grammar.REFERENCES, "url", "path"), LatexWriter._write_reference),
    **dict.fromkeys(("footnote", "footnotetext", "thanks"), LatexWriter._write_footnote),
    **dict.fromkeys(("caption", "captionof"), LatexWriter._write_caption),
    **dict.fromkeys(("SI", "qty", "SIrange", "qtyrange", "numrange"), LatexWriter._write_quantity),
    **dict.fromkeys(("si", "unit"), LatexWriter._write_unit_alone),
    **dict.fromkeys((*grammar.BOXES, "num"), LatexWriter._write_last),
    "textsuperscript": LatexWriter._write_raised,
    "ang": LatexWriter._write_angle,
    "href": LatexWriter._write_link,
    "texorpdfstring": LatexWriter._write_first,
}

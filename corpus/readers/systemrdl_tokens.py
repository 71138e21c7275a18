"""The words and signs of SystemRDL after the directives of its Verilog preprocessor (SystemRDL 2.0, section 16)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from argot.corpus.read_limits import ReadLimits

TOKENS_PER_SECOND = 100_000
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<define>`define\b[ \t]*(?P<macro>\w*)(?P<body>(?:\\\r?\n|"(?:[^"\\\n]|\\.)*"|[^\n])*))"""
    r"""|(?P<perl><%.*?(?:%>|\Z))"""
    r"""|(?P<include>`include\b[ \t]*(?P<file>[^\n]*))"""
    r"""|(?P<directive>`(?:ifn?def|elsif|undef)\b[ \t]*\w*|`(?:else|endif|resetall|celldefine|endcelldefine)\b"""
    r"""|`(?:line|timescale|pragma|default_nettype|begin_keywords|end_keywords)\b[^\n]*)"""
    r"""|(?P<word>`?[A-Za-z_\\][\w]*|\d*'[bodhBODH][\w]+|\d[\w]*)|(?P<sign>->|\+=|%=|::|.)""",
    re.DOTALL,
)
_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL)


@dataclass(slots=True)
class TokenReader:
    """Reads the tokens of a file, each with the offset at which it begins, and replaces the macros without parameters
    that the file defines. Other macros stay as they are written; the parts under every condition are read.
    """

    name: str
    limits: ReadLimits
    tokens: list[tuple[str, int]] = field(default_factory=list)
    included: list[str] = field(default_factory=list)
    """Files that it includes, as written."""
    perl_count: int = 0
    """Pieces of Perl of its other preprocessor (section 16.2): no program is run."""
    _names: set[str] = field(default_factory=set)
    _macros: dict[str, str] = field(default_factory=dict)
    _inside: list[tuple[str, Iterator[re.Match[str]]]] = field(default_factory=list)
    """The macros that are being replaced, the outermost first, and what is left of their texts."""

    def read(self, text: str) -> None:
        """Add the tokens of a file.

        Raises:
            UnreadableDocument: it has too many tokens, or its macros stand for too many or too much text.
        """
        chars = 0
        for steps, (found, at) in enumerate(self._iter_matches(text), 1):
            self.limits.check_elements(steps, TOKENS_PER_SECOND, "SystemRDL", self.name)
            token = found[0]
            macro = token[1:] if token[0] == "`" else ""
            if self._inside:
                chars += len(token)
                self.limits.check_chars(chars, self.name)
            if found["define"] is not None:
                self._define(found["macro"], found["body"])
            elif found["perl"] is not None:
                self.perl_count += 1
            elif found["include"] is not None:
                self.included.append(found["file"].strip().strip('"<>'))
            elif macro in self._macros and macro not in self._names:
                self._names.add(macro)
                self._inside.append((macro, _TOKEN.finditer(self._macros[macro])))
            elif found["blank"] is None and found["directive"] is None:
                self.tokens.append((token, at))

    def _iter_matches(self, text: str) -> Iterator[tuple[re.Match[str], int]]:
        """Yield the texts of a file and of its macros, each with the offset in the file where it is used."""
        for outer in _TOKEN.finditer(text):
            yield outer, outer.start()
            while self._inside:
                name, rest = self._inside[-1]
                if (found := next(rest, None)) is not None:
                    yield found, outer.start()
                else:
                    self._names.discard(name)
                    self._inside.pop()

    def _define(self, name: str, body: str) -> None:
        # A bracket that follows the name at once holds parameters.
        if not body.startswith("("):
            self._macros[name] = _COMMENT.sub(lambda one: one[1] or " ", body.replace("\\\n", "\n"))

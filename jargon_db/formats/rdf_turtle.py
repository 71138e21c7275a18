"""Reads Turtle, and N-Triples, which is a part of it (https://www.w3.org/TR/turtle/).

The work is linear in the length of the file. rdflib's reader takes minutes for a thesaurus of 100,000 concepts, because
it searches the rest of the text again at every long literal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import NoReturn

from argot.jargon_db.formats.rdf_statements import (
    FIRST,
    MAX_DEPTH,
    NIL,
    REST,
    TYPE,
    Add,
    MalformedFile,
    Value,
    build_depth_error,
    complete_iri,
    name_blank,
)


def _repeat(choices: str) -> str:
    """Return a pattern that matches as many of these choices as possible."""
    # Python before 3.11.5 matches possessive groups wrongly. The alternative takes 100 bytes for each match of the
    # group.
    return f"(?:{choices})*+" if sys.version_info >= (3, 11, 5) else f"(?>(?:{choices})*)"


# Repetitions are possessive (`++`, `*+`), so that no text causes backtracking.
_WS = _repeat(r"[ \t\r\n]++|\#[^\r\n]*+")
_NAME = _repeat(r"[\w\-]++|\.++(?=[\w\-])")
_PREFIX = rf"(?:[^\W\d_]{_NAME})?"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"
_LOCAL = rf"(?:[\w:]|{_ESCAPED})" + _repeat(rf"[\w:\-]++|{_ESCAPED}|\.++(?=[\w:\-%\\])")
_LANGUAGES = _repeat("-[A-Za-z0-9]++")
_LONG, _LONG_SINGLE = _repeat(r'[^"\\]++|\\.|"(?!"")'), _repeat(r"[^'\\]++|\\.|'(?!'')")
_SHORT, _SHORT_SINGLE = _repeat(r'[^"\\\r\n]++|\\.'), _repeat(r"[^'\\\r\n]++|\\.")
_PLAIN_NAME = r"[A-Za-z][\w\-]*+:[\w\-]*+(?!\.[\w:%\\\-])(?![:%\\])"
_PLAIN_ADDRESS = r"[^<>\x00-\x20\\]*+"
_TOKEN = re.compile(
    rf"""{_WS}(?:
    <(?P<address>[^<>\x00-\x1f]*+)>
  | (?P<long>\"{{3}}{_LONG}\"{{3}} | '{{3}}{_LONG_SINGLE}'{{3}})
  | (?P<text>"{_SHORT}" | '{_SHORT_SINGLE}')
  | (?P<number>[+-]?(?:[0-9]++(?:\.[0-9]*+)?[eE][+-]?[0-9]++|\.[0-9]++[eE][+-]?[0-9]++|[0-9]*+\.[0-9]++|[0-9]++))
  | (?P<sign>\^\^|[.;,\[\]()])
  | (?P<language>@[A-Za-z]++{_LANGUAGES})
  | _:(?P<blank>\w{_NAME})
  | (?P<name>{_PREFIX}:(?:{_LOCAL})?)
  | (?P<word>[A-Za-z]++)
  | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_PAIR = re.compile(
    rf"""{_WS}(?:<({_PLAIN_ADDRESS})>|({_PLAIN_NAME})|(a)(?=[\s<]))
    {_WS}(?:"([^"\\\r\n]*+)"(?!")(?:@([A-Za-z]++{_LANGUAGES}))?(?!{_WS}\^\^)
      |<({_PLAIN_ADDRESS})>|({_PLAIN_NAME}))
    {_WS}([;.])""",
    re.VERBOSE,
)
"""A property with its one value, the form of nearly all lines: read in one step. Other forms are read by tokens."""
_BLANK = re.compile(_WS)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_LOCAL_ESCAPE = re.compile(r"\\(.)")


def read(text: str, base: str, add: Add) -> None:
    """Pass every statement to `add`, in the order of the file.

    Raises:
        Malformed: it is no Turtle; the message says why, and on which line.
        LimitExceeded: it is nested too deeply.
    """
    _Reader(text, base, add).read()


class _Reader:
    def __init__(self, text: str, base: str, add: Add) -> None:
        self._text = text
        self._base = base
        self._add = add
        self._prefixes: dict[str, str] = {}
        self._properties: dict[str, str] = {}
        self._at = 0
        self._depth = 0
        self._kind = ""
        self._value = ""
        self._begin = 0

    def read(self) -> None:
        while True:
            self._next()
            if self._kind == "end":
                return
            if self._kind == "language" or (self._kind == "word" and self._value.lower() in ("prefix", "base")):
                self._read_directive()
            else:
                self._block()

    # -- tokens ---------------------------------------------------------------------------------------------------

    def _next(self) -> None:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            # At the invalid text itself, not at the blanks and comments before it: the message names its line.
            self._begin = self._skip()
            self._fail(f"{self._text[self._begin : self._begin + 20]!r} is unexpected, or not closed")
        self._kind = found.lastgroup or ""
        self._value = found[self._kind]
        self._begin = found.start(self._kind)
        self._at = found.end()

    def _skip(self) -> int:
        found = _BLANK.match(self._text, self._at)
        return found.end() if found else self._at

    def _fail(self, why: str) -> NoReturn:
        raise MalformedFile(why, f"line {self._text.count(chr(10), 0, self._begin) + 1}")

    def _is(self, sign: str) -> bool:
        return self._kind == "sign" and self._value == sign

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            self._fail(f"{sign!r} is expected before {self._value[:20]!r}")

    # -- directives -----------------------------------------------------------------------------------------------

    def _read_directive(self) -> None:
        word, dotted = self._value.lower().removeprefix("@"), self._kind == "language"
        if word not in ("prefix", "base"):
            self._fail(f"unknown directive {self._value[:20]!r}")
        self._next()
        if word == "prefix":
            prefix = self._value
            if self._kind != "name" or not prefix.endswith(":"):
                self._fail("a prefix is expected, as in '@prefix ex: <...> .'")
            self._next()
            self._prefixes[prefix[:-1]] = self._read_directive_address()
            # A prefix may be redeclared, which changes the meaning of its names.
            self._properties.clear()
        else:
            self._base = self._read_directive_address()
        if dotted:
            self._next()
            self._expect(".")

    def _read_directive_address(self) -> str:
        if self._kind != "address":
            self._fail("an address is expected, as in '@prefix ex: <...> .'")
        return self._address(self._value)

    # -- statements -----------------------------------------------------------------------------------------------

    def _block(self) -> None:
        """Read a subject and all statements about it, up to the full stop."""
        if self._is("["):
            subject = self._inner()
            self._next()
            if self._is("."):
                return
        else:
            subject = self._read_collection() if self._is("(") else self._resource("a subject")
            if self._pairs(subject):
                return
            self._next()
        self._read_properties(subject)
        self._expect(".")

    def _pairs(self, subject: str) -> bool:
        """Read property and value by `_PAIR` as long as they match; return True if the block ended."""
        # Local variables: this loop takes nearly all the time of a large file.
        text, add, match, known = self._text, self._add, _PAIR.match, self._properties
        while (found := match(text, self._at)) is not None:
            address, name, a, literal, language, value, value_name, sign = found.groups()
            self._begin = found.start(8)
            if a:
                predicate = TYPE
            elif address is not None:
                predicate = self._address(address)
            else:
                predicate = known.get(name) or known.setdefault(name, self._expand_name(name))
            if literal is not None:
                add(subject, predicate, literal, language.lower() if language else "")
            else:
                add(
                    subject,
                    predicate,
                    self._address(value) if value is not None else self._expand_name(value_name),
                    None,
                )
            self._at = found.end()
            if sign == ".":
                return True
        return False

    def _read_properties(self, subject: str) -> None:
        """Read `property value, value; property value ...` from the current token, up to the one after it."""
        while True:
            while self._is(";"):
                self._next()
            if self._is(".") or self._is("]"):
                return
            predicate = (
                TYPE if self._kind == "word" and self._value == "a" else self._resource("a property", blanks=False)
            )
            self._next()
            while True:
                self._add(subject, predicate, *self._read_object())
                if not self._is(","):
                    break
                self._next()
            if not self._is(";"):
                return

    def _read_object(self) -> Value:
        """Return the value at the current token, and move to the next token."""
        if self._kind in ("text", "long"):
            cut = 3 if self._kind == "long" else 1
            text = self._unescape(self._value[cut:-cut])
            return text, self._language()
        if self._kind == "number" or (self._kind == "word" and self._value in ("true", "false")):
            plain: Value = (self._value, "")
        elif self._is("["):
            plain = (self._inner(), None)
        elif self._is("("):
            plain = (self._read_collection(), None)
        else:
            plain = (self._resource("a value"), None)
        self._next()
        return plain

    def _language(self) -> str:
        self._next()
        if self._kind == "language":
            language = self._value[1:].lower()
            self._next()
            return language
        if self._is("^^"):
            self._next()
            # Read and left out: a glossary has only texts.
            self._resource("a data type", blanks=False)
            self._next()
        return ""

    def _inner(self) -> str:
        """Read `[ ... ]`, a resource without a name."""
        return self._descend(self._read_blank_content)

    def _read_blank_content(self) -> str:
        subject = name_blank()
        self._next()
        if not self._is("]"):
            self._read_properties(subject)
            self._expect("]")
        return subject

    def _read_collection(self) -> str:
        """Read `( ... )`, a list of values."""
        return self._descend(self._read_list)

    def _read_list(self) -> str:
        values: list[Value] = []
        self._next()
        while not self._is(")"):
            values.append(self._read_object())
        # RDF has no lists: each element is a node with its value and the next node.
        nodes = [name_blank() for _ in values]
        for place, (node, value) in enumerate(zip(nodes, values, strict=True)):
            self._add(node, FIRST, *value)
            self._add(node, REST, nodes[place + 1] if place + 1 < len(nodes) else NIL, None)
        return nodes[0] if nodes else NIL

    def _descend(self, read: Callable[[], str]) -> str:
        self._depth += 1
        # Each level nests the reader's calls.
        if self._depth > MAX_DEPTH:
            raise build_depth_error()
        found = read()
        self._depth -= 1
        return found

    # -- names ----------------------------------------------------------------------------------------------------

    def _resource(self, wanted: str, *, blanks: bool = True) -> str:
        if self._kind == "address":
            return self._address(self._value)
        if self._kind == "name":
            return self._expand_name(self._value)
        if self._kind == "blank" and blanks:
            return f"_:{self._value}"
        if self._kind == "end":
            self._fail("it ends too early")
        return self._fail(f"{wanted} is expected before {self._value[:20]!r}")

    def _expand_name(self, name: str) -> str:
        prefix, _, local = name.partition(":")
        space = self._prefixes.get(prefix)
        if space is None:
            self._fail(f"the prefix '{prefix[:80]}:' is not declared")
        return space + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local)

    def _address(self, address: str) -> str:
        return complete_iri(self._base, self._unescape(address) if "\\" in address else address)

    def _unescape(self, text: str) -> str:
        return _ESCAPE.sub(self._decode_escape, text) if "\\" in text else text

    def _decode_escape(self, found: re.Match[str]) -> str:
        short, long, letter = found.groups()
        if letter is not None:
            if letter not in _LETTERS:
                self._fail(f"unknown escape '\\{letter}'")
            return _LETTERS[letter]
        code = int(short or long, 16)
        # `chr` accepts no larger ones.
        if code > 0x10FFFF:
            self._fail(f"invalid character '{found[0]}'")
        return chr(code)

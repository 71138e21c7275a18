"""SystemRDL 2.0 (Accellera): components and their properties as blocks, registers and fields.

Only what describes registers is read: expressions stay as they are written, and the parameters of components are not
applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.omissions import Omissions, join_names
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.corpus.readers.registers import Properties, Register, RegisterBlock, RegisterField, write_register_blocks
from argot.corpus.readers.systemrdl_tokens import TokenReader
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

RDL_TYPE = "text/x-systemrdl"
INSTANCES_PER_SECOND = 5_000
_MAX_DEPTH = 50
_KINDS = frozenset({"addrmap", "regfile", "reg", "field", "mem", "signal", "enum", "struct"})
_BLOCK_KINDS = frozenset({"addrmap", "regfile", "mem"})


@dataclass(slots=True)
class Component:
    """A component as it is defined: its own properties, those that it gives its parts, and its parts in order."""

    kind: str
    name: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    parts: list[Instance] = field(default_factory=list)
    values: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Instance:
    """A component in its place: `bits` as `7:4` or the size of an array, `reset`, `address` with its steps."""

    component: Component
    name: str
    bits: str = ""
    reset: str = ""
    address: str = ""


def read_systemrdl(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read the top components of a file. The title is the first one's name.

    Raises:
        UnreadableDocument: it holds no components, or cannot be understood; the message says at which line.
    """
    text = decode_text(data, name)
    parser = _Parser(text, name, limits)
    top = parser.parse_file()
    builder = _Builder(limits, name)
    blocks = [builder.build_block(one, {}) for one in top if one.component.kind in _BLOCK_KINDS]
    loose = [builder.build_register(one, {}) for one in top if one.component.kind == "reg"]
    if loose:
        blocks.append(RegisterBlock("Registers", registers=loose))
    if not blocks:
        raise UnreadableDocument(name, "no SystemRDL: it defines no addrmap, regfile or reg")
    title = blocks[0].name or name_without_suffix(name)
    markdown = write_register_blocks(blocks, limits, name)
    return ParsedDocument(title, markdown, RDL_TYPE, warnings=tuple(parser.list_warnings()))


class _Parser:
    def __init__(self, text: str, name: str, limits: ReadLimits) -> None:
        self._file, self._limits, self._count = name, limits, 0
        self._text = text
        reader = TokenReader(name, limits)
        reader.read(text)
        self._tokens, self._included = reader.tokens, reader.included
        self._omissions = Omissions()
        self._omissions.add("piece of Perl code", reader.perl_count)
        self._unknown: dict[str, None] = {}
        self._at = 0
        self._scopes: list[dict[str, list[Component]]] = [{}]
        """Components by name; one name has several if each condition (`ifdef) defines another."""

    def parse_file(self) -> list[Instance]:
        """Return the components that stand in none: definitions that nothing uses stand for themselves."""
        root = Component("root")
        while self._at < len(self._tokens):
            self._parse_statement(root, 0)
        defined = [one for several in self._scopes[0].values() for one in several]
        used = {id(one) for one in _iter_components([*root.parts, *(part for one in defined for part in one.parts)])}
        unused = [one for one in defined if id(one) not in used and one.kind in (*_BLOCK_KINDS, "reg")]
        return [*root.parts, *(Instance(one, one.name) for one in unused)]

    def list_warnings(self) -> Iterator[str]:
        yield from self._omissions.warnings()
        if self._included:
            yield f"the files that it includes were not read: {join_names(self._included)}"
        if self._unknown:
            yield f"what these macros stand for was not read: {join_names(self._unknown)}"

    def _parse_statement(self, owner: Component, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise UnreadableDocument(self._file, "nested too deeply")
        word = self._next()
        if word == ";":
            return
        while word in ("external", "internal", "alias", "abstract"):
            word = self._next()
        if word.startswith("`"):
            self._skip_macro(word)
        elif word == "enum":
            self._parse_enum()
        elif word in _KINDS and self._peek() != "=":
            self._parse_component(word, owner, depth)
        elif word == "default":
            name = self._next()
            _add_value(owner.defaults, name, self._parse_value())
        elif (known := self._find(word)) and re.match(r"[\w\\#]", self._peek() or "") is not None:
            self._parse_instances(known, owner)
        else:
            self._parse_property(word, owner)

    def _skip_macro(self, name: str) -> None:
        """Skip a macro that stands where a statement begins: with its arguments, and up to the end of its line."""
        self._unknown[name] = None
        if self._peek() == "(":
            self._skip_bracket("(", ")")
        if self._peek() not in ("}", None) and not self._begins_line():
            self._parse_value()

    def _parse_component(self, kind: str, owner: Component, depth: int) -> None:
        component = Component(kind)
        if self._peek() not in ("{", "#"):
            component.name = self._next()
        if self._peek() == "#":
            self._skip_bracket("(", ")")
        self._expect("{")
        self._scopes.append({})
        while self._peek() not in ("}", None):
            self._parse_statement(component, depth + 1)
        self._scopes.pop()
        self._expect("}")
        if component.name:
            self._scopes[-1].setdefault(component.name, []).append(component)
        while self._peek() in ("external", "internal"):
            self._at += 1
        if self._peek() == ";":
            self._at += 1
        else:
            self._parse_instances([component], owner)

    def _parse_enum(self) -> None:
        enum = Component("enum", self._next())
        self._expect("{")
        while self._peek() not in ("}", None):
            name = self._next()
            value = self._take_until("{", ";", ",")[1:].strip() if self._peek() == "=" else ""
            about = Component("entry")
            if self._peek() == "{":
                self._at += 1
                while self._peek() not in ("}", None):
                    self._parse_property(self._next(), about)
                self._expect("}")
            enum.values.append((name, value, about.properties.get("desc", about.properties.get("name", ""))))
            while self._peek() in (";", ","):
                self._at += 1
        self._expect("}")
        self._scopes[-1].setdefault(enum.name, []).append(enum)

    def _parse_instances(self, components: Sequence[Component], owner: Component) -> None:
        """Parse the names of instances: `EN[7:4] = 0, CH[8] @ 0x10 += 4;`. Each is one of each of the components."""
        while True:
            if self._peek() == "#":
                self._skip_bracket("(", ")")
            one = Instance(components[0], self._next())
            while self._peek() == "[":
                one.bits += f"{'][' if one.bits else ''}{self._skip_bracket('[', ']')}"
            one.reset = self._take_until(",", ";", "@")[1:].strip() if self._peek() == "=" else ""
            one.address = self._take_until(",", ";")[1:].strip() if self._peek() == "@" else ""
            if self._peek() in ("+=", "%="):
                one.address = self._take_until(",", ";")
            self._count_parts(len(components))
            owner.parts += [replace(one, component=component) for component in components]
            if self._next() != ",":
                return

    def _parse_property(self, name: str, owner: Component) -> None:
        """Parse `name = value;`, `name;` or `part -> name = value;`."""
        if self._peek() in ("->", "."):
            path = name + self._take_until("=", ";")
            owner.properties[path] = self._parse_value()
            return
        if re.match(r"\w", self._peek() or "") is not None:  # posedge intr;
            name = f"{name} {self._next()}"
        value = self._parse_value()
        _add_value(owner.properties, name, value)
        if name == "encode" and (enums := self._find(value)):
            self._count_parts(sum(len(enum.values) for enum in enums))
            owner.values = [entry for enum in enums for entry in enum.values]

    def _parse_value(self) -> str:
        value = self._take_until(";", "}")
        if self._peek() == ";":
            self._at += 1
        return value.removeprefix("=").strip() or "true"

    def _count_parts(self, count: int) -> None:
        """Count parts and values, which each definition of a type gives every one that uses it."""
        self._count += count
        self._limits.check_elements(self._count, INSTANCES_PER_SECOND, "SystemRDL", self._file)

    # -- tokens --

    def _peek(self) -> str | None:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else None

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise UnreadableDocument(self._file, "damaged: the SystemRDL ends within a component")
        self._at += 1
        return self._tokens[self._at - 1][0]

    def _expect(self, sign: str) -> None:
        found = self._next()
        if found != sign:
            line = self._text.count("\n", 0, self._tokens[self._at - 1][1]) + 1
            raise UnreadableDocument(
                self._file, f"damaged: line {line} has '{found[:40]}' where SystemRDL has '{sign}'"
            )

    def _begins_line(self) -> bool:
        """Return whether the next token is on another line than the one before it."""
        return "\n" in self._text[self._tokens[self._at - 1][1] : self._tokens[self._at][1]]

    def _take_until(self, *ends: str) -> str:
        """Take tokens up to one of these outside brackets; return them as text."""
        taken: list[str] = []
        depth = 0
        while (one := self._peek()) is not None and (depth or one not in ends):
            # An unknown macro may hold the semicolon.
            if taken and not depth and taken[-1].startswith("`") and one.isidentifier() and self._begins_line():
                break
            depth += (one in ("(", "[", "{")) - (one in (")", "]", "}"))
            taken.append(_unquote(one))
            self._at += 1
        return " ".join(taken)

    def _skip_bracket(self, opening: str, closing: str) -> str:
        if self._peek() == "#":
            self._at += 1
        self._expect(opening)
        inside = self._take_until(closing)
        self._expect(closing)
        return inside.replace(" ", "")

    def _find(self, name: str) -> list[Component]:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), [])


def _add_value(properties: dict[str, str], name: str, value: str) -> None:
    """Add the value of a property; a second one, which only another condition (`ifdef) may give, beside the first."""
    before = properties.get(name, value)
    properties[name] = value if before == value else f"{before} or {value}"


def _unquote(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL) if token.startswith('"') else token


def _iter_components(parts: list[Instance]) -> Iterator[Component]:
    """Yield each component that is used, once, however often it is."""
    seen: set[int] = set()
    waiting = list(parts)
    while waiting:
        one = waiting.pop().component
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += one.parts


# -- blocks ----------------------------------------------------------------------------------------------------------


class _Builder:
    """Builds blocks of instances. Their number is limited: a few lines can define millions."""

    def __init__(self, limits: ReadLimits, name: str) -> None:
        self._limits, self._file, self._count, self._chars = limits, name, 0, 0

    def build_block(self, one: Instance, defaults: dict[str, str]) -> RegisterBlock:
        given = self._inherit(one, defaults)
        properties = one.component.properties
        block = RegisterBlock(_name_instance(one), properties.get("desc", ""))
        block.more = [("Address", one.address), *_list_more(properties, {"desc"})]
        for part in one.component.parts:
            if part.component.kind == "reg":
                block.registers.append(self.build_register(part, given))
            elif part.component.kind in _BLOCK_KINDS:
                block.blocks.append(self.build_block(part, given))
        return block

    def build_register(self, one: Instance, defaults: dict[str, str]) -> Register:
        given = self._inherit(one, defaults)
        properties = one.component.properties
        register = Register(
            _name_instance(one),
            one.address.removeprefix("@").strip(),
            properties.get("regwidth", given.get("regwidth", "")),
            _describe_access(properties, {}),
            description=properties.get("desc", ""),
            more=_list_more(properties, {"desc", "regwidth", "sw", "hw"}),
        )
        parts = [part for part in one.component.parts if part.component.kind == "field"]
        register.fields = [self._build_field(part, given) for part in parts]
        return register

    def _build_field(self, one: Instance, defaults: dict[str, str]) -> RegisterField:
        given = self._inherit(one, defaults)
        properties = one.component.properties
        more = _list_more(properties, {"desc", "sw", "hw", "reset", "encode"})
        values = (
            f"{value} = {name}" + (f" ({description})" if description else "")
            for name, value, description in one.component.values
        )
        return RegisterField(
            one.name,
            one.bits,
            _describe_access(properties, given),
            one.reset or properties.get("reset", ""),
            " ".join(filter(None, [properties.get("desc", ""), *(f"{name}: {value}." for name, value in more)])),
            "; ".join(values),
        )

    def _inherit(self, one: Instance, defaults: dict[str, str]) -> dict[str, str]:
        self._count += 1
        self._limits.check_elements(self._count, INSTANCES_PER_SECOND, "SystemRDL", self._file)
        self._chars += sum(map(len, one.component.properties.values()))
        self._chars += sum(len(text) for value in one.component.values for text in value)
        self._limits.check_chars(self._chars, self._file)
        return {**defaults, **one.component.defaults}


def _name_instance(one: Instance) -> str:
    return f"{one.name}[{one.bits}]" if one.bits else one.name


def _describe_access(properties: dict[str, str], defaults: dict[str, str]) -> str:
    """Describe who reads and writes: `sw rw, hw r`."""
    known = {**defaults, **properties}
    return ", ".join(f"{side} {known[side]}" for side in ("sw", "hw") if side in known)


def _list_more(properties: dict[str, str], known: set[str]) -> Properties:
    return [(name, value) for name, value in properties.items() if name not in known]

"""Descriptions of registers as Markdown: a table of the registers of each block, and one of the fields of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.pipe_tables import render_pipe_table

_MAX_HEADING_LEVEL = 6
_FIELD_HEAD = ("Field", "Bits", "Access", "Reset", "Description", "Values")
_BLOCK_HEAD = ("Block", "Address")
_REGISTER_HEAD = ("Register", "Address offset", "Size", "Access", "Reset", "Description")
Properties = list[tuple[str, str]]


@dataclass(slots=True)
class RegisterField:
    """A field of a register. `bits` as `7:4`; `values`: the named ones, as `0 = off; 1 = on`."""

    name: str
    bits: str = ""
    access: str = ""
    reset: str = ""
    description: str = ""
    values: str = ""


Elements = list[tuple[str, str]]
"""Name and address of each element of an array."""


@dataclass(slots=True)
class Register:
    """A register, or an array of registers with its elements. `more`: its other properties."""

    name: str
    address: str = ""
    size: str = ""
    access: str = ""
    reset: str = ""
    description: str = ""
    fields: list[RegisterField] = field(default_factory=list)
    more: Properties = field(default_factory=list)
    elements: Elements = field(default_factory=list)


@dataclass(slots=True)
class RegisterBlock:
    """A device, peripheral, block of addresses or file of registers, or an array of them with its elements."""

    name: str
    description: str = ""
    more: Properties = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    blocks: list[RegisterBlock] = field(default_factory=list)
    elements: Elements = field(default_factory=list)


def write_register_blocks(blocks: Sequence[RegisterBlock], limits: ReadLimits, name: str) -> str:
    """Write blocks as Markdown. Headings carry the names of the blocks around a register: `UART0.CTRL`.

    Raises:
        UnreadableDocument: it would be too much text; arrays and types repeat what is written once in the file.
    """
    total = 0
    for count in (count for block in blocks for count in _count_chars(block, 0)):
        total += count
        limits.check_chars(total, name)
    return "\n\n".join(part for block in blocks for part in _write_block(block, (), 1) if part) + "\n"


def _count_chars(block: RegisterBlock, around: int) -> Iterator[int]:
    """Yield about how many characters each part of a block takes; `around`: those of the names of blocks around it."""
    path = around + len(block.name)
    yield path + len(block.description)
    yield from (len(name) + len(value) for name, value in (*block.more, *block.elements))
    for one in block.registers:
        yield path + len(one.name) + len(one.description)
        yield from (sum(map(len, cells)) for cells in _list_rows(one))
        yield from (len(name) + len(value) for name, value in (*one.more, *one.elements))
        yield from (sum(map(len, _list_field_cells(field))) for field in one.fields)
    for inner in block.blocks:
        yield from _count_chars(inner, path)


def _write_block(block: RegisterBlock, around: tuple[str, ...], level: int) -> Iterator[str]:
    path = (*around, block.name)
    yield _write_heading(path, level)
    yield block.description
    yield _write_properties(block.more)
    if block.elements:
        yield _write_table(_BLOCK_HEAD, block.elements)
    if block.registers:
        yield _write_table(_REGISTER_HEAD, [cells for one in block.registers for cells in _list_rows(one)])
    for register in block.registers:
        yield _write_heading((*path, register.name), level + 1)
        yield register.description
        yield _write_properties([*_list_facts(register), *register.more])
        if register.fields:
            yield _write_table(_FIELD_HEAD, [_list_field_cells(one) for one in register.fields])
    for inner in block.blocks:
        yield from _write_block(inner, path, level + 1)


def _write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table without the columns that are empty in every row."""
    used = [column for column in range(len(head)) if any(row[column] for row in rows)]
    return render_pipe_table([[row[column] for column in used] for row in (head, *rows)])


def _list_rows(one: Register) -> list[list[str]]:
    places = one.elements or [(one.name, one.address)]
    return [[name, address, one.size, one.access, one.reset, one.description] for name, address in places]


def _list_field_cells(one: RegisterField) -> list[str]:
    return [one.name, one.bits, one.access, one.reset, one.description, one.values]


def _list_facts(one: Register) -> Properties:
    # The offset of an array is that of its first element alone.
    places = ", ".join(f"{name} at {address}" for name, address in one.elements)
    where = ("Registers", places) if places else ("Address offset", one.address)
    facts = [where, ("Size", one.size), ("Access", one.access), ("Reset", one.reset)]
    return [(name, value) for name, value in facts if value]


def _write_properties(properties: Properties) -> str:
    return "\n".join(f"- {name}: {' '.join(value.split())}" for name, value in properties if value)


def _write_heading(path: Sequence[str], level: int) -> str:
    # The device's own name before every register would say nothing.
    shown = path if len(path) == 1 else path[1:]
    text = ".".join(shown).replace("[", "\\[").replace("]", "\\]")
    return f"{'#' * min(level, _MAX_HEADING_LEVEL)} {' '.join(text.split())}"

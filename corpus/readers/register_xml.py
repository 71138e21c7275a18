"""Registers of CMSIS-SVD (version 1.3) and IP-XACT (IEEE 1685): the elements of each as blocks, registers, fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.registers import Elements, Properties, Register, RegisterBlock, RegisterField

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

_OWN_FACTS = ("name", "description", "addressOffset", "size", "access")
_MAX_DEPTH = 20
ELEMENTS_PER_SECOND = 5_000
_MAX_ELEMENTS = 1_024
"""Elements of an array that are listed; a few bytes can declare billions."""
_MAX_TAG_CHARS = 100
"""Characters of a tag that are shown; each text repeats those above it."""
_MAX_DIGITS = 80
"""Characters of a number: one of 64 bits in binary, with its prefix and separators, has fewer."""
_BITS = re.compile(r"[0-9]{1,9}(?::[0-9]{1,9})?")
_BLOCKS = frozenset({"peripheral", "cluster", "memoryMap", "addressBlock", "registerFile", "bank"})


def read_svd_blocks(root: _Element, name: str, limits: ReadLimits) -> list[RegisterBlock]:
    """Read a device with its peripherals.

    Raises:
        UnreadableDocument: its arrays have too many elements to list, or too long names.
    """
    _check_arrays(root, name, limits)
    device = RegisterBlock(_get(root, "name") or "Device", _get(root, "description"))
    device.more = _list_others(root, {"name", "description", "peripherals"})
    device.blocks = [_read_svd_block(one, 0) for one in _find(root, "peripherals", "peripheral")]
    return [device]


def list_derived(root: _Element) -> list[str]:
    """List the names of the elements that take their parts from another one (`derivedFrom`): these are not repeated."""
    found = [one for one in root.iter() if isinstance(one.tag, str) and one.get("derivedFrom") is not None]
    return [_get(one, "name") or _name(one) for one in found]


def _check_arrays(root: _Element, name: str, limits: ReadLimits) -> None:
    count = chars = 0
    for one in root.iter():
        if not isinstance(one.tag, str) or not (indexes := _list_indexes(one)):
            continue
        count += len(indexes)
        limits.check_elements(count, ELEMENTS_PER_SECOND, "array", name)
        shown = _get(one, "name")
        start = _get(one, "addressOffset") or _get(one, "baseAddress")
        each = len(shown) + len(start)
        chars += each * len(indexes) + shown.count("%s") * sum(len(index) for index, _ in indexes)
        limits.check_chars(chars, name)


def _read_svd_block(element: _Element, depth: int) -> RegisterBlock:
    block = RegisterBlock(_get(element, "name") or "?", _get(element, "description"))
    block.more = _list_others(element, {"name", "description", "registers", "register", "cluster"})
    block.elements = _list_elements(element, block.name, _get(element, "addressOffset") or _get(element, "baseAddress"))
    if (origin := element.get("derivedFrom")) is not None:
        block.more.insert(0, ("derivedFrom", origin))
    holders = [element, *_find(element, "registers")]
    block.registers = [_read_svd_register(one) for holder in holders for one in _find(holder, "register")]
    if depth < _MAX_DEPTH:
        block.blocks = [_read_svd_block(one, depth + 1) for holder in holders for one in _find(holder, "cluster")]
    return block


def _read_svd_register(element: _Element) -> Register:
    register = _make_register(element, _get(element, "resetValue"))
    register.fields = [one for found in _find(element, "fields", "field") for one in _read_svd_fields(found)]
    register.elements = _list_elements(element, register.name, register.address)
    register.more = _list_others(element, {*_OWN_FACTS, "fields", "resetValue"})
    if (origin := element.get("derivedFrom")) is not None:
        register.more.insert(0, ("derivedFrom", origin))
    return register


def _make_register(element: _Element, reset: str) -> Register:
    name, description, address, size, access = (_get(element, tag) for tag in _OWN_FACTS)
    return Register(name or "?", address, size, access, reset, description)


def _list_elements(element: _Element, name: str, start: str) -> Elements:
    """List the elements of an array, `OFS%s` or `OFS[%s]`, with their addresses; none if it is no array."""
    return [
        (name.replace("%s", index), _add_offset(start, step)) for index, step in _list_indexes(element) if "%s" in name
    ]


def _list_indexes(element: _Element) -> list[tuple[str, int]]:
    """List the index of each element of an array and its offset, in the units of the array's address."""
    count, step = _read_number(_get(element, "dim")), _read_number(_get(element, "dimIncrement") or "0")
    if count is None or step is None or not 0 < count <= _MAX_ELEMENTS:
        return []
    index = _get(element, "dimIndex")
    names = [one.strip() for one in index.split(",")]
    if found := re.fullmatch(r"(\d{1,9})-\d{1,9}", index):
        names = [str(int(found[1]) + number) for number in range(count)]
    elif found := re.fullmatch(r"([A-Z])-[A-Z]", index):
        names = [chr(ord(found[1]) + number) for number in range(count)]
    elif not index:
        names = [str(number) for number in range(count)]
    return [(name, step * number) for number, name in enumerate(names)] if len(names) == count else []


def _add_offset(start: str, offset: int) -> str:
    """Add to an address in its own notation; to one that is no number, such as a parameter, in words."""
    first = _read_number(start or "0")
    if first is None:
        return f"{start} + {offset:#x}"
    total = first + offset
    if not start.lower().startswith("0x"):
        return str(total)
    digits = f"{total:0{len(start) - 2}x}"
    return start[:2] + (digits.upper() if start.upper()[2:] == start[2:] else digits)


def _read_svd_fields(element: _Element) -> list[RegisterField]:
    """Read a field; of an array of fields each one, below the row of the array."""
    field = _read_svd_field(element)
    indexes = _list_indexes(element) if "%s" in field.name else []
    bits = [int(one) for one in field.bits.split(":")] if _BITS.fullmatch(field.bits) else []
    elements = [
        replace(field, name=field.name.replace("%s", index), bits=":".join(str(bit + step) for bit in bits))
        for index, step in indexes
        if bits
    ]
    return [field, *elements]


def _read_svd_field(element: _Element) -> RegisterField:
    values = (
        _describe_value(_get(one, "value") or ("default" if _get(one, "isDefault") else ""), one)
        for one in _find(element, "enumeratedValues", "enumeratedValue")
    )
    known = {"name", "description", "access", "bitOffset", "bitWidth", "lsb", "msb", "bitRange", "enumeratedValues"}
    description = _join_description(_get(element, "description"), _list_others(element, known))
    return RegisterField(
        _get(element, "name") or "?",
        _find_svd_bits(element),
        _get(element, "access"),
        description=description,
        values="; ".join(values),
    )


def _find_svd_bits(element: _Element) -> str:
    if found := _get(element, "bitRange"):
        return found.strip("[]")
    if msb := _get(element, "msb"):
        return _format_bits(msb, _get(element, "lsb"))
    return _count_bits(_get(element, "bitOffset"), _get(element, "bitWidth"))


def read_ipxact_blocks(root: _Element) -> list[RegisterBlock]:
    """Read a component: its memory maps with blocks of addresses, and its other properties."""
    component = RegisterBlock(_get(root, "name") or "Component", _get(root, "description"))
    component.more = _list_others(root, {"name", "description", "memoryMaps"})
    component.blocks = [_read_ipxact_block(one, 0) for one in _find(root, "memoryMaps", "memoryMap")]
    return [component]


def _read_ipxact_block(element: _Element, depth: int) -> RegisterBlock:
    inner = [one for one in element if _name(one) in _BLOCKS] if depth < _MAX_DEPTH else []
    block = RegisterBlock(_get(element, "name") or "?", _get(element, "description"))
    block.more = _list_others(element, {"name", "description", "register", *(_name(one) for one in inner)})
    block.registers = [_read_ipxact_register(one) for one in _find(element, "register")]
    block.blocks = [_read_ipxact_block(one, depth + 1) for one in inner]
    return block


def _read_ipxact_register(element: _Element) -> Register:
    register = _make_register(element, _read_resets(element))
    register.fields = [_read_ipxact_field(one) for one in _find(element, "field")]
    register.more = _list_others(element, {*_OWN_FACTS, "field", "reset", "resets"})
    return register


def _read_ipxact_field(element: _Element) -> RegisterField:
    values = (_describe_value(_get(one, "value"), one) for one in _find(element, "enumeratedValues", "enumeratedValue"))
    known = {
        "name", "description", "bitOffset", "bitWidth", "access", "reset", "resets", "enumeratedValues",
    }  # fmt: skip
    return RegisterField(
        _get(element, "name") or "?",
        _count_bits(_get(element, "bitOffset"), _get(element, "bitWidth")),
        _get(element, "access"),
        _read_resets(element),
        _join_description(_get(element, "description"), _list_others(element, known)),
        "; ".join(values),
    )


def _read_resets(element: _Element) -> str:
    holders = [*_find(element, "reset"), *_find(element, "resets", "reset")]
    return ", ".join(_get(one, "value") for one in holders if _get(one, "value"))


# -- elements --------------------------------------------------------------------------------------------------------


def _name(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2][:_MAX_TAG_CHARS]


def _find(element: _Element, *path: str) -> list[_Element]:
    """Find the elements at a path of tags, whatever their namespace."""
    found = [element]
    for tag in path:
        found = [child for one in found for child in one if _name(child) == tag]
    return found


def _get(element: _Element, tag: str) -> str:
    """Return the text of the first child of this tag on one line; empty if there is none."""
    found = _find(element, tag)
    return " ".join("".join(map(str, found[0].itertext())).split()) if found else ""


def _list_others(element: _Element, known: Collection[str]) -> Properties:
    """List the texts of all other children by the tags above them, so that nothing is lost."""
    return [
        (path, text)
        for child in element
        if isinstance(child.tag, str) and _name(child) not in known
        for path, text in _list_texts(child, _name(child), 0)
    ]


def _list_texts(element: _Element, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if text := " ".join((element.text or "").split()):
        yield path, text
    if depth < _MAX_DEPTH:
        for child in element:
            if isinstance(child.tag, str):
                yield from _list_texts(child, f"{path}.{_name(child)}", depth + 1)


def _describe_value(value: str, element: _Element) -> str:
    name, description = _get(element, "name"), _get(element, "description")
    return f"{value} = {name}" + (f" ({description})" if description and description != name else "")


def _join_description(description: str, more: Properties) -> str:
    return " ".join(filter(None, [description, *(f"{name}: {value}." for name, value in more)]))


def _read_number(text: str) -> int | None:
    """Read a number as `16` or `0x10`; None if it is none, such as a parameter, or longer than any address."""
    try:
        return int(text, 0) if len(text) <= _MAX_DIGITS else None
    except ValueError:
        return None


def _count_bits(offset: str, width: str) -> str:
    """Return the bits of a field as `7:4`; an offset that is no number, such as a parameter, as it is."""
    low, count = _read_number(offset), _read_number(width or "1")
    if low is None or count is None:
        return f"{offset} +: {width}" if offset else ""
    return _format_bits(str(low + count - 1), str(low))


def _format_bits(high: str, low: str) -> str:
    return high if high == low or not low else f"{high}:{low}"

"""The saved HNSW graphs of the vector index: whether their files can be loaded and are unchanged.

Chroma loads any file without checks. A short file reads as zeros; a number that points out of the graph ends the
process, or keeps it busy for good. Every number that is followed while loading or searching is therefore checked first;
that takes a tenth of a second for 50,000 vectors. `Corpus.check` finds damage to a vector that points nowhere.

The format is hnswlib's, in the version that Chroma uses. `header.bin` contains the number of elements and their layout;
`data_level0.bin` for each its neighbours, its vector and its label; `link_lists.bin` the neighbours in the levels
above, and `length.bin` the vector's length.
"""

from __future__ import annotations

import math
import pickletools
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argot.corpus.index.generations import build_damage_error

IDS = "index_metadata.pickle"
SLICE_ROWS = 8192
LENGTH_TOLERANCE = 1e-3
"""All vectors have length 1, up to floating-point error."""
MAX_ROOM_FACTOR = 16
"""Allocated elements per existing one; it grows by doubling."""
MIN_ROOM_ELEMENTS = 1024

# hnswlib writes its members one after the other, little-endian and without padding.
_HEADER = struct.Struct("<i6QiI3QdQ")
_KEYS = ("id_to_label", "label_to_id", "id_to_seq_id")  # of the pickle's tables
_COUNT = 0xFFFF  # of a list's first number: the bits above mark a deleted element


class _Damage(Exception):
    """A fault, worded as the end of "a file of this folder is ..."."""


class Header(NamedTuple):
    """`header.bin`. Positions are bytes within an element; `links` is how many neighbours a list can hold."""

    version: int
    level0_at: int
    room: int
    elements: int
    element_bytes: int
    label_at: int
    vector_at: int
    top_level: int
    entry: int
    links: int
    links_level0: int
    m: int
    level_factor: float
    construction_breadth: int

    def is_consistent(self) -> bool:
        """Return whether its numbers agree: all but `elements`, `entry` and `top_level` can be computed from the
        others.
        """
        # hnswlib's own rules: the lowest level has twice as many links; an element is its list of links (a count and
        # then the numbers, of 4 bytes each), its vector, and its label of 8 bytes.
        return (
            self.level0_at == 0
            and 2 <= self.m == self.links == self.links_level0 // 2
            and self.links_level0 % 2 == 0
            and self.vector_at == 4 + 4 * self.links_level0
            and self.vector_at < self.label_at == self.element_bytes - 8
            and self.label_at % 4 == 0
            and self.entry < self.elements <= self.room <= MAX_ROOM_FACTOR * max(self.elements, MIN_ROOM_ELEMENTS)
            and math.isclose(self.level_factor, 1 / math.log(self.m))
            and 0 < self.construction_breadth <= self.room
        )


def check_graphs(root: Path, generation: str, *, thoroughly: bool = False) -> None:
    """Check the files of each saved graph of a generation.

    Args:
        thoroughly: check the list of ids too, which takes some 10 seconds for a million.

    Raises:
        DamagedStore
    """
    for folder in _list_saved(root, generation):
        try:
            _check_graph(folder)
            if thoroughly:
                _check_ids(folder)
        except _Damage as damage:
            raise build_damage_error(root, f"a file of {generation}/{folder.name} is {damage}") from damage
        except OSError as error:
            raise build_damage_error(root, f"a file of {generation}/{folder.name} is missing or too short") from error


def count_saved_elements(root: Path, generation: str) -> int:
    """Return how many vectors the saved graphs contain, including deleted ones; `check_graphs` has passed them."""
    return sum(_read_header(folder).elements for folder in _list_saved(root, generation))


def _list_saved(root: Path, generation: str) -> list[Path]:
    # A graph without its list of ids was never saved; `check_pages` detects a lost list.
    return [saved.parent for saved in sorted((root / generation).glob(f"*/{IDS}"))]


def _read_header(folder: Path) -> Header:
    content = (folder / "header.bin").read_bytes()
    if len(content) != _HEADER.size:
        raise _Damage("truncated (header.bin)")
    return Header(*_HEADER.unpack(content))


def _check_graph(folder: Path) -> None:
    header = _read_header(folder)
    for name, bytes_each in (("data_level0.bin", header.element_bytes), ("length.bin", 4)):
        if (folder / name).stat().st_size != header.elements * bytes_each:
            raise _Damage(f"truncated ({name})")
    if not header.is_consistent():
        raise _Damage("not as it was written (header.bin)")
    _check_level0(folder, header)
    _check_levels_above(folder, header)
    lengths = np.fromfile(folder / "length.bin", "<f4")
    if not _has_unit_lengths(lengths):
        raise _Damage("not as it was written (length.bin)")


def _check_level0(folder: Path, header: Header) -> None:
    """Check neighbours, vectors and labels of all elements, a slice at a time."""
    file = np.memmap(folder / "data_level0.bin", np.uint8, mode="r", shape=(header.elements, header.element_bytes))
    labels = np.empty(header.elements, np.uint64)
    for start in range(0, header.elements, SLICE_ROWS):
        # Copied a slice at a time, since the file may be larger than the memory.
        rows = np.array(file[start : start + SLICE_ROWS])
        vectors = np.ascontiguousarray(rows[:, header.vector_at : header.label_at]).view("<f4")
        labels[start : start + SLICE_ROWS] = np.ascontiguousarray(rows[:, header.label_at :]).view("<u8")[:, 0]
        # Damaged numbers may overflow; the result fails the check for length 1 all the same.
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        if not (_has_valid_links(rows[:, : header.vector_at], header) and _has_unit_lengths(lengths)):
            raise _Damage("not as it was written (data_level0.bin)")
    labels.sort()
    if not (labels[1:] > labels[:-1]).all():  # np.unique would import numpy.ma: a tenth of a second
        raise _Damage("not as it was written (data_level0.bin)")


def _check_levels_above(folder: Path, header: Header) -> None:
    """Check the levels above: each element has a length in 4 bytes and as many bytes of neighbours, usually none."""
    content = (folder / "link_lists.bin").read_bytes()
    level_bytes, position, levels = 4 + 4 * header.links, 0, []
    lists: list[bytes] = []
    for _ in range(header.elements):
        size = int.from_bytes(content[position : position + 4], "little")
        position += 4
        if size:
            lists.append(content[position : position + size])
            position += size
        levels.append(size // level_bytes)
        if size % level_bytes or position > len(content):
            raise _Damage("truncated (link_lists.bin)")
    if position != len(content):
        raise _Damage("truncated (link_lists.bin)")
    rows = np.frombuffer(b"".join(lists), np.uint8).reshape(-1, level_bytes)
    # Every search starts at the entry and goes down, so the entry has to be on the top level.
    if not (_has_valid_links(rows, header) and levels[header.entry] == max(levels) == header.top_level):
        raise _Damage("not as it was written (link_lists.bin)")


def _has_valid_links(rows: np.ndarray[Any, np.dtype[np.uint8]], header: Header) -> bool:
    """Return whether each list (a row: a count, and then the numbers) has room for its neighbours, and these exist."""
    lists = np.ascontiguousarray(rows).view("<u4")
    counts, numbers = lists[:, 0] & _COUNT, lists[:, 1:]
    followed = np.arange(numbers.shape[1]) < counts[:, np.newaxis]
    return bool((counts <= numbers.shape[1]).all() and (numbers[followed] < header.elements).all())


def _has_unit_lengths(lengths: np.ndarray[Any, np.dtype[Any]]) -> bool:
    return bool((np.abs(lengths - 1) <= LENGTH_TOLERANCE).all())  # not for NaN


def _check_ids(folder: Path) -> None:
    """Check the list of ids: it has each twice, id to label and label to id, and the two have to agree."""
    try:
        labels, ids = _read_id_tables(folder / IDS)
    except Exception as error:  # any error that a parser raises at invalid bytes
        raise _Damage(f"not as it was written ({IDS})") from error
    header = _read_header(folder)
    file = np.memmap(folder / "data_level0.bin", np.uint8, mode="r", shape=(header.elements, header.element_bytes))
    stored = set(np.ascontiguousarray(file[:, header.label_at :]).view("<u8")[:, 0].tolist())
    # Deleted elements stay in the graph but leave the list; the list can never have more than the graph.
    if {label: id_ for id_, label in labels.items()} != ids or not stored.issuperset(ids):
        raise _Damage(f"not as it was written ({IDS})")


def _read_id_tables(path: Path) -> tuple[dict[str, int], dict[int, str]]:
    """Return the two tables of the pickled list of ids."""
    tables: dict[str, dict[Any, Any]] = {"id_to_label": {}, "label_to_id": {}}
    table: dict[Any, Any] | None = None
    # Never unpickled: a manipulated pickle can run any code.
    values = _read_values(path.read_bytes())
    for value in values:
        if isinstance(value, str) and value in _KEYS:
            table = tables.get(value)
        elif table is not None:
            table[value] = next(values)
    return tables["id_to_label"], tables["label_to_id"]


def _read_values(content: bytes) -> Iterator[str | int]:
    """Yield the strings and numbers of a pickle, in their order."""
    for operation, value, _ in pickletools.genops(content):
        if isinstance(value, str | int) and operation.name != "PROTO":
            yield value

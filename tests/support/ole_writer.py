"""Compound files (MS-CFB, version 3), written byte by byte: no library that the tests use writes them."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTOR, _SMALL, _CUTOFF = 512, 64, 4096
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


def write_ole(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file of these streams; slashes in a path part storages."""
    tree: dict[str, dict] = {}
    for path in streams:
        place = tree
        for part in path.split("/"):
            place = place.setdefault(part, {})
    entries: list[list] = [["Root Entry", 5, _NONE, _END, 0]]
    small, small_fat, sectors, fat = bytearray(), list[int](), list[bytes](), list[int]()

    def add_stream(data: bytes) -> tuple[int, int]:
        if not data:
            return _END, 0
        if len(data) < _CUTOFF:
            first = len(small_fat)
            count = -(-len(data) // _SMALL)
            small_fat.extend([*range(first + 1, first + count), _END])
            small.extend(data.ljust(count * _SMALL, b"\0"))
            return first, len(data)
        return add_sectors(data), len(data)

    def add_sectors(data: bytes) -> int:
        first, count = len(sectors), -(-len(data) // _SECTOR)
        fat.extend([*range(first + 1, first + count), _END])
        sectors.extend(data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR))
        return first

    siblings: dict[int, int] = {}

    def add_entries(children: dict[str, dict], prefix: str) -> int:
        """Add the entries below a storage, each the right neighbour of the one before; return the first."""
        first = last = _NONE
        for name, below in sorted(children.items(), key=lambda one: (len(one[0]), one[0].upper())):
            path = f"{prefix}{name}"
            number = len(entries)
            entries.append([name, 2 if path in streams else 1, _NONE, _END, 0])
            if path in streams:
                entries[number][3:] = add_stream(streams[path])
            else:
                entries[number][2] = add_entries(below, f"{path}/")
            if last == _NONE:
                first = number
            else:
                siblings[last] = number
            last = number
        return first

    entries[0][2] = add_entries(tree, "")
    if small:
        entries[0][3:] = [add_sectors(bytes(small)), len(small)]
    directory = b"".join(
        name.encode("utf-16-le").ljust(64, b"\0") + struct.pack(
            "<HBBIII16xI16xIII", 2 * len(name) + 2, kind, 1, _NONE, siblings.get(number, _NONE), child, 0, start, size,
            0,
        )
        for number, (name, kind, child, start, size) in enumerate(entries)
    )  # fmt: skip
    first_directory = add_sectors(directory)
    first_small = add_sectors(struct.pack(f"<{len(small_fat)}I", *small_fat)) if small_fat else _END
    count = 1
    while count * 128 < len(fat) + count:
        count += 1
    places = list(range(len(fat), len(fat) + count))
    fat += [_FAT] * count
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(count * _SECTOR, b"\xff")
    head = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, count, first_directory,
        0, _CUTOFF, first_small, -(-len(small_fat) // 128), _END, 0,
    )  # fmt: skip
    head += struct.pack("<109I", *places, *[_FREE] * (109 - count))
    return head + b"".join(sectors) + table

"""Search for a word in all that a knowledge base stores: every byte of its folder and every row in PostgreSQL."""

import re
import zlib
from pathlib import Path
from typing import Any

import psycopg

_ZLIB_HEADS = re.compile(rb"x[\x01\x5e\x9c\xda]|\x1f\x8b")
MOST_UNPACKED_BYTES = 1_000_000


def files_with_word(folder: Path, word: str) -> list[str]:
    """Return the files below a folder that contain the word, in any encoding of the stores, compressed or not."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and has_word(path.read_bytes(), word)]
    return [str(path.relative_to(folder)) for path in found]


def has_word(data: bytes, word: str) -> bool:
    forms = [form for spelt in {word, word.title(), word.upper()} for form in _encoded(spelt)]
    return any(form in part for part in (data, *_unpacked(data)) for form in forms)


def tables_with_word(url: str, schema: str, word: str) -> list[str]:
    """Return the tables of a schema with a row that contains the word."""
    with psycopg.connect(url) as connection:
        # Otherwise row-level security would hide documents.
        connection.execute(
            "SELECT set_config('search_path', %s, false), set_config('argot.audience', '*', false)", (schema,)
        )
        return [table for table in tables_of(connection, schema) if _table_has_word(connection, schema, table, word)]


def tables_of(connection: psycopg.Connection[Any], schema: str) -> list[str]:
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", (schema,))
    return [table for (table,) in rows]


def _table_has_word(connection: psycopg.Connection[Any], schema: str, table: str, word: str) -> bool:
    for row in connection.execute(f'SELECT * FROM "{schema}"."{table}"'):  # type: ignore[arg-type]
        for value in row:
            data = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
            if has_word(data, word):
                return True
    return False


def _encoded(word: str) -> list[bytes]:
    return [word.encode("utf-8"), word.encode("utf-16-le"), word.encode("utf-16-be")]


def _unpacked(data: bytes) -> list[bytes]:
    found = []
    for head in _ZLIB_HEADS.finditer(data):
        try:
            part = zlib.decompressobj(47).decompress(data[head.start() :], MOST_UNPACKED_BYTES)
        except zlib.error:
            continue
        found.append(part)
    return found

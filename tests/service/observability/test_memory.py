"""Tests of what a long-running process does to limit its memory."""

import ctypes
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from argot.corpus.database import WRITING_KIB
from argot.corpus.store.document_store import CorpusStore
from argot.sqlite import CACHE_KIB

GLIBC = hasattr(ctypes.CDLL(None), "malloc_info")
SERVE = """
import ctypes, threading
from pathlib import Path
from argot.settings import Settings
from argot.ui import server
from argot.ui.start_report import StartReport

def arenas():
    libc, text, size = ctypes.CDLL(None), ctypes.c_char_p(), ctypes.c_size_t()
    libc.open_memstream.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    return text.value.count(b"<heap nr")

async def work(home, settings, report):
    together = threading.Barrier(9)

    def allocate():
        kept = [bytes(2000) for _ in range(1000)]
        together.wait()
        together.wait()

    threads = [threading.Thread(target=allocate) for _ in range(8)]
    for thread in threads:
        thread.start()
    together.wait()
    print(arenas())
    together.wait()

server._serve = work
server.serve(Path("kb"), Settings(), StartReport())
"""


def _arenas_of_a_service(**variables: str) -> int:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    command = [sys.executable, "-c", SERVE]
    done = subprocess.run(command, env=kept | variables, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not GLIBC, reason="only glibc has arenas")
def test_the_threads_of_a_service_share_two_memory_arenas() -> None:
    assert _arenas_of_a_service() <= 2


@pytest.mark.skipif(not GLIBC, reason="only glibc has arenas")
def test_a_given_number_of_memory_arenas_is_kept() -> None:
    assert _arenas_of_a_service(MALLOC_ARENA_MAX="5") == 5


def test_a_connection_has_a_large_page_cache_only_while_it_writes(tmp_path: Path) -> None:
    store = CorpusStore.open(tmp_path / "corpus.db")
    database = store.database

    def room() -> int:
        return -int(database.connection().execute("PRAGMA cache_size").fetchone()[0])

    assert room() == CACHE_KIB < WRITING_KIB
    with database.writing():
        assert room() == WRITING_KIB
    assert room() == CACHE_KIB
    with pytest.raises(sqlite3.OperationalError), database.writing() as connection:
        connection.execute("no SQL")
    assert room() == CACHE_KIB
    store.close()

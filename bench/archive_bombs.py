"""The searches of others while a manager uploads archives that unpack to a gigabyte, and one of 70,000 files.

    python bench/archive_bombs.py          # some three minutes on two cores

One `argot serve` over the sample knowledge base. The whole time one person searches, and `/ready` is polled: first
alone, then beside eight bombs of 990 MB that are sent at once, then beside a ZIP of 70,000 files of one byte.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from load_applications import ARGOT, UNBOUNDED, prepare_base, start_application

BOMBS = 8
BOMB_BYTES = 990_000_000
SMALL_FILES = 70_000
PATIENCE_SECONDS = 120


def make_bomb() -> bytes:
    """Return a `.tar.gz` of 7.7 MB; its least compressible content comes first."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=1) as packed:
        noise = tarfile.TarInfo("noise.txt")
        noise.size = 3_400_000
        packed.write(noise.tobuf() + os.urandom(noise.size))
        packed.write(b"\0" * (-noise.size % 512))
        for number in range(BOMB_BYTES // 99_000_000):
            member = tarfile.TarInfo(f"{number}.txt")
            member.size = 99_000_000
            packed.write(member.tobuf())
            packed.write(b"0" * member.size + b"\0" * (-member.size % 512))
    return buffer.getvalue()


def make_crowd() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(SMALL_FILES):
            archive.writestr(f"{number}.txt", b"a")
    return buffer.getvalue()


def time_call(ask: Callable[[], int], ended: threading.Event, into: list[float]) -> None:
    while not ended.is_set():
        began = time.perf_counter()
        status = ask()
        into.append(time.perf_counter() - began if status == 200 else float(PATIENCE_SECONDS))
        ended.wait(0.05)


def main() -> None:
    import httpx

    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    bomb, crowd = make_bomb(), make_crowd()
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "kb"
        keys = prepare_base(home, 2)["keys"]
        role = [*ARGOT, "user", "add", "person1", "--role", "manager", "--home", str(home)]
        subprocess.run(role, check=True, stdout=subprocess.DEVNULL)
        with start_application("argot", [*ARGOT, "serve", "--home", str(home), "--port", "0"], home, UNBOUNDED) as app:
            headers = [{"Authorization": f"Bearer {key}"} for key in keys]
            asker = httpx.Client(base_url=app.url, headers=headers[0], timeout=PATIENCE_SECONDS, trust_env=False)
            manager = httpx.Client(base_url=app.url, headers=headers[1], timeout=600, trust_env=False)

            def search() -> int:
                return asker.post("/api/search", json={"query": "What does the bilge pump do?"}).status_code

            def fetch_ready() -> int:
                return asker.get("/ready").status_code

            def send(name: str, data: bytes) -> None:
                began = time.perf_counter()
                got = manager.post("/api/documents", files={"file": (name, data)})
                took = time.perf_counter() - began
                print(f"  {name}: {got.status_code}, {took:.1f} s, {len(got.content):,} bytes: {got.text[:160]}")

            def run_part(title: str, work: Sequence[Callable[[], None]]) -> None:
                ended, searches, readies = threading.Event(), list[float](), list[float]()
                watch = [threading.Thread(target=time_call, args=(search, ended, searches))]
                watch += [threading.Thread(target=time_call, args=(fetch_ready, ended, readies))]
                workers = [threading.Thread(target=one) for one in work]
                for one in (*watch, *workers):
                    one.start()
                for one in workers:
                    one.join()
                if not work:
                    time.sleep(10)
                ended.set()
                for one in watch:
                    one.join()
                told = {name: _compute_quantiles(found) for name, found in (("search", searches), ("ready", readies))}
                print(f"{title}: {json.dumps(told)}", flush=True)

            run_part("alone", [])
            run_part("eight bombs", [lambda n=n: send(f"bomb{n}.tar.gz", bomb) for n in range(BOMBS)])  # type: ignore[misc]
            run_part("70,000 files", [lambda: send("crowd.zip", crowd)])


def _compute_quantiles(found: list[float]) -> dict[str, float]:
    found = sorted(found)
    return {
        "n": len(found),
        "p50": round(found[len(found) // 2], 3),
        "p95": round(found[int(len(found) * 0.95)], 3),
        "max": round(found[-1], 3),
    }


if __name__ == "__main__":
    sys.exit(main())

"""Ledgers of untrusted files, built in a child process with the readers' limits. Run as a module, it is the child."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_with_ledger, reader_protocol
from argot.corpus.readers.ledger import Ledger
from argot.corpus.readers.ledger.ledger import LostWords
from argot.corpus.readers.reader_process import compute_patience, make_refusal
from argot.errors import UnreadableDocument
from argot.subprocesses import Child, ChildFailed, Parent, limit_resources

_NICE = 10
_MEGABYTE_BYTES = 1 << 20


class LedgerProcess:
    """A process that reads files and counts their words. Use it from one thread at a time, and as a context manager."""

    def __init__(self) -> None:
        self._child = Child("argot.evaluate.ledger_process")

    def __enter__(self) -> LedgerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.stop()

    def build_ledger(self, data: bytes, name: str, limits: ReadLimits) -> tuple[Ledger, tuple[str, ...]]:
        """Return the ledger of a file, and the warnings from reading it.

        Raises:
            UnreadableDocument: the file is refused, too slow or too large, or its reader crashed.
        """
        limits.check_size(len(data), name)
        self._child.start()
        try:
            patience = compute_patience(limits, name, data)
            self._child.send(reader_protocol.job(name, limits, 0), data, seconds=patience)
            message, _ = self._child.receive(limits.max_answer_bytes)
        except ChildFailed as failure:
            raise make_refusal(failure, name, limits) from failure
        reply: dict[str, Any] = json.loads(message)
        if "reason" in reply:
            raise UnreadableDocument(name, reply["reason"], reply["remedy"])
        held: dict[str, Any] = reply["ledger"]
        lost = [LostWords(**one) for one in held["lost"]]
        return Ledger(**{**held, "left_out": Counter(held["left_out"]), "lost": lost}), tuple(reply["warnings"])


# -- the child ---------------------------------------------------------------------------------------------------------


def main() -> None:
    parent = Parent(_NICE)
    for message, data in parent.messages():
        name, limits, _ = reader_protocol.decode_job(message)
        parent.send(_answer(data, name, limits), b"")


def _answer(data: bytes, name: str, limits: ReadLimits) -> bytes:
    try:
        with limit_resources(limits.seconds, limits.memory_mb * _MEGABYTE_BYTES):
            parsed, ledger = read_with_ledger(data, name, limits)
            lost = [asdict(one) for one in ledger.lost]
            held = {"held": ledger.held, "kept": ledger.kept, "left_out": ledger.left_out, "lost": lost}
            held["shortfall"] = ledger.shortfall
            return json.dumps({"warnings": parsed.warnings, "ledger": held}).encode()
    except UnreadableDocument as error:
        return reader_protocol.refusal(error)
    except MemoryError:
        return reader_protocol.refusal(limits.build_memory_error(name))


if __name__ == "__main__":
    main()

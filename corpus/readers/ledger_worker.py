"""The child process of `ledger_process`: it reads one file after the other and sends the ledger of its words."""

from __future__ import annotations

import json
from dataclasses import asdict

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_with_ledger, reader_protocol
from argot.errors import UnreadableDocument
from argot.subprocesses import Parent, limit_resources

_NICE = 10
_MEGABYTE_BYTES = 1 << 20


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

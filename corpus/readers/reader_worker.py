"""The child process of `reader_process`: reads and cuts one file after the other until its parent ends."""

from __future__ import annotations

from argot.corpus.chunking.passages import cut_document
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document, reader_protocol
from argot.errors import UnreadableDocument
from argot.subprocesses import Parent, limit_resources

NICE_VALUE = 10
"""Questions take precedence."""
_MEGABYTE_BYTES = 1 << 20


def main() -> None:
    parent = Parent(NICE_VALUE)
    for message, data in parent.messages():
        parent.send(*_answer(data, *reader_protocol.decode_job(message)))


def _answer(data: bytes, name: str, limits: ReadLimits, max_chars: int) -> tuple[bytes, bytes]:
    try:
        # Cutting as well: what is read may be many times as long as the file.
        with limit_resources(limits.seconds, limits.memory_mb * _MEGABYTE_BYTES):
            parsed = read_document(data, name, limits)
            cuts = cut_document(parsed, max_chars=max_chars, limits=limits, name=name)
            # Found here, so that a file without text never reaches the stores.
            if not cuts:
                raise UnreadableDocument(name, "no text in it")
            return reader_protocol.encode_answer(parsed, cuts)
    except UnreadableDocument as error:
        return reader_protocol.refusal(error), b""
    # The limits are lifted by now: there is memory to answer with.
    except MemoryError:
        return reader_protocol.refusal(limits.build_memory_error(name)), b""


if __name__ == "__main__":
    main()

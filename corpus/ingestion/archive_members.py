"""Archives of documents (zip, tar): each file in one is a separate source, named by archive and path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import quote

from argot.corpus.ingestion.archive_pictures import embed_pictures, has_pictures_beside
from argot.corpus.ingestion.archive_process import UnpackedArchive
from argot.corpus.ingestion.source import Source
from argot.corpus.readers import SUFFIXES
from argot.document_names import ARCHIVE_SUFFIXES, find_leftover_kind, plain_text
from argot.files import NotAFile

MAX_ARCHIVE_BYTES = 500_000_000
"""Maximum size of an archive: it is held in memory while its files are read."""
_LARGE = "unpack it, and add the folder"


def is_archive(name: str) -> bool:
    return name.casefold().endswith(ARCHIVE_SUFFIXES)


def list_members(archive: Source) -> Iterator[Source]:
    """Yield the files in an archive, in its order; hidden ones are skipped. A problem of the whole archive, or of its
    remaining part, is yielded as one source that fails.
    """
    if archive.size > MAX_ARCHIVE_BYTES:
        yield _build_failing_source(archive, f"an archive of more than {MAX_ARCHIVE_BYTES // 1_000_000} MB; {_LARGE}")
        return
    unpacked = UnpackedArchive(archive.load)
    try:
        listed = unpacked.list_entries()
    except OSError as error:
        yield _build_failing_source(archive, error.strerror or "it cannot be read")
        return
    places: set[str] = set()
    numbers = {_clean_path(one.path): number for number, one in enumerate(listed.entries) if not one.problem}
    for number, entry in enumerate(listed.entries):
        place = _clean_path(entry.path)
        if place and not _is_hidden(place):
            skip = entry.problem or (
                "another file in the archive has its name" if place in places else _explain_skip(place)
            )
            places.add(place)
            load = partial(unpacked.read, number)
            if has_pictures_beside(place):
                load = partial(_load_with_pictures, unpacked, number, place, numbers)
            yield Source(f"{archive.uri}!/{quote(place)}", PurePosixPath(place).name, load, entry.size, skip)
    if listed.problem:
        yield _build_failing_source(archive, f"{listed.problem}; {_LARGE}" if listed.is_refused else listed.problem)


def _load_with_pictures(unpacked: UnpackedArchive, number: int, place: str, numbers: Mapping[str, int]) -> bytes:
    """Return a Markdown file or a page with its pictures, as far as they can be unpacked."""

    def load(path: str) -> bytes | None:
        try:
            return unpacked.read(numbers[path]) if path in numbers else None
        except NotAFile:  # its own source reports it
            return None

    return embed_pictures(unpacked.read(number), place, load)


def _clean_path(path: str) -> str:
    """Return the path of a file in its archive, without parts that lead outside."""
    # Some programs of Windows separate folders by backslashes.
    parts = (plain_text(part) for part in path.replace("\\", "/").split("/"))
    return "/".join(part for part in parts if part.strip(". "))


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in path.split("/")) or bool(find_leftover_kind(path))


def _explain_skip(path: str) -> str:
    """Return why a file in an archive is skipped; empty if it is not."""
    suffix = PurePosixPath(path).suffix
    if is_archive(path):
        return "an archive in an archive"
    return "" if not suffix or suffix.casefold() in SUFFIXES else f"unknown kind of file ({suffix})"


def _build_failing_source(archive: Source, reason: str) -> Source:
    def load() -> bytes:
        raise NotAFile(reason)

    return Source(archive.uri, archive.name, load)

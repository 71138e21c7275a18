"""Files that programs leave beside documents: skipped in folders and archives, and refused when given by name."""

import zipfile
from pathlib import Path

import pytest

from argot.corpus.connectors.export_files import ExportFiles
from argot.corpus.ingestion.sources import list_sources
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.document_names import find_leftover_kind
from argot.errors import UnreadableDocument

LEFTOVERS = [
    "~$plan.docx",
    ".~lock.plan.odt#",
    "Thumbs.db",
    "desktop.ini",
    ".DS_Store",
    "._plan.docx",
    "~WRL0003.tmp",
    "plan.md~",
]


@pytest.mark.parametrize("name", LEFTOVERS)
def test_a_leftover_file_given_by_name_is_refused_with_its_kind(name: str) -> None:
    with pytest.raises(UnreadableDocument, match=r"no document: a .*Give the document itself"):
        read_document(b"\x03Ann", name, ReadLimits())


@pytest.mark.parametrize("name", ["plan.docx", "~plan.md", "$plan.md", "thumbs.md", "desktop.txt", "c#.md", "a~b.md"])
def test_documents_are_not_leftover_files(name: str) -> None:
    assert not find_leftover_kind(name)


def test_leftover_files_in_folders_archives_and_exports_are_skipped(tmp_path: Path) -> None:
    for name in [*LEFTOVERS, "plan.md"]:
        (tmp_path / name).write_text("Words.")
    assert [one.name for one in list_sources([tmp_path])] == ["plan.md"]
    export = ExportFiles(tmp_path)
    assert list(export.files) == ["plan.md"]
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for name in [*LEFTOVERS, "plan.md"]:
            opened.writestr(f"below/{name}", "Words.")
    assert [one.name for one in list_sources([archive])] == ["plan.md"]

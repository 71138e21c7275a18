"""Archives are added as their members, each under its own name; a damaged archive is one failure."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from argot.corpus.ingestion.archive_members import MAX_ARCHIVE_BYTES, list_members
from argot.corpus.ingestion.source import Source
from argot.corpus.ingestion.sources import list_sources
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.document_names import name_in
from argot.files import NotAFile

FILES = {
    "handbook/valves.md": b"# Valves\n\nThey open at 12 bar.\n",
    "handbook/a b.txt": b"Words.\n",
    "handbook/logo.xyz": b"?",
    ".hidden.md": b"# Hidden\n",
    "__MACOSX/valves.md": b"?",
    "inner.zip": b"PK",
}


def zipped(path: Path, files: dict[str, bytes] = FILES) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for name, data in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("handbook/passwd.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return path


@pytest.mark.parametrize("name", ["all.zip", "all.tar", "all.tar.gz", "all.tgz"])
@pytest.mark.parametrize("named", [True, False])
def test_each_file_of_an_archive_is_a_source(tmp_path: Path, name: str, named: bool) -> None:
    path = (zipped if name.endswith("zip") else tarred)(tmp_path / name)
    found = {source.name: source for source in list_sources([path if named else tmp_path])}
    assert {one: source.skip for one, source in found.items()} == {
        "valves.md": "",
        "a b.txt": "",
        "logo.xyz": "unknown kind of file (.xyz)",
        "inner.zip": "an archive in an archive",
        **({} if name.endswith("zip") else {"passwd.txt": "a link"}),
    }
    assert found["valves.md"].load() == FILES["handbook/valves.md"]
    assert found["a b.txt"].uri == f"{path.as_uri()}!/handbook/a%20b.txt"
    assert found["a b.txt"].size == 7


def test_a_member_path_out_of_the_archive_is_only_a_name(tmp_path: Path) -> None:
    (source,) = list_sources([zipped(tmp_path / "a.zip", {"../../etc/passwd.txt": b"in the archive"})])
    assert source.load() == b"in the archive"


def test_a_damaged_archive_is_one_failure(tmp_path: Path) -> None:
    for name, data in (("a.zip", b"PK\x03\x04 broken"), ("b.tar.gz", b"\x1f\x8b broken"), ("c.zip", b"words")):
        (tmp_path / name).write_bytes(data)
        (source,) = list_sources([tmp_path / name])
        with pytest.raises(NotAFile, match="damaged, or no archive"):
            source.load()


def test_a_damaged_or_encrypted_member_fails_alone(tmp_path: Path) -> None:
    data = bytearray(zipped(tmp_path / "a.zip", {"a.txt": bytes(range(256)) * 2, "b.txt": b"fine"}).read_bytes())
    data[60:70] = b"\xff" * 10
    (tmp_path / "a.zip").write_bytes(data)
    broken, fine = list_sources([tmp_path / "a.zip"])
    with pytest.raises(NotAFile, match="cannot be unpacked"):
        broken.load()
    assert fine.load() == b"fine"
    locked = bytearray(zipped(tmp_path / "b.zip", {"a.txt": b"words"}).read_bytes())
    directory = locked.index(b"PK\x01\x02")
    locked[6] |= 1
    locked[directory + 8] |= 1
    (tmp_path / "b.zip").write_bytes(locked)
    (source,) = list_sources([tmp_path / "b.zip"])
    with pytest.raises(NotAFile, match="encrypted"):
        source.load()


def test_an_archive_above_the_size_limit_is_not_opened() -> None:
    def load() -> bytes:
        raise AssertionError("it was opened")

    (source,) = list_members(Source("file:///a.zip", "a.zip", load, MAX_ARCHIVE_BYTES + 1))
    with pytest.raises(NotAFile, match="unpack it, and add the folder"):
        source.load()


def test_member_uris_contain_no_parent_paths_or_direction_marks(tmp_path: Path) -> None:
    files = {"../evil.md": b"1", "a\\..\\b.md": b"2", "evil.md": b"3", "/invoice\u202efdp.md": b"4"}
    found = list(list_sources([zipped(tmp_path / "a.zip", files)]))
    base = f"{(tmp_path / 'a.zip').as_uri()}!/"
    assert [(one.uri.removeprefix(base), one.name, one.skip) for one in found] == [
        ("evil.md", "evil.md", ""),
        ("a/b.md", "b.md", ""),
        ("evil.md", "evil.md", "another file in the archive has its name"),
        ("invoicefdp.md", "invoicefdp.md", ""),
    ]


def test_direction_marks_are_removed_from_a_file_name(tmp_path: Path) -> None:
    (tmp_path / "invoice\u202efdp.md").write_bytes(b"# Invoice")
    (source,) = list_sources([tmp_path])
    assert source.name == name_in(source.uri) == "invoicefdp.md"
    assert source.load() == b"# Invoice"


def draw_box() -> bytes:
    """Return a picture with a box, as PNG."""
    picture = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(picture).rectangle((40, 40, 300, 200), fill="navy")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def test_pictures_beside_a_page_are_read_with_it_but_no_logo(tmp_path: Path) -> None:
    drawn = draw_box()
    page = (
        "<h1>Valves</h1><p><img src='img/company logo.png'></p><p>![](img/valve.png)</p>"
        "<figure><img src='img/valve.png'><figcaption>The valve</figcaption></figure><img src='../../etc/passwd.png'>"
    )
    files = {"book/a.html": page.encode(), "book/img/valve.png": drawn}
    files["book/img/company logo.png"] = drawn + b" "
    path = zipped(tmp_path / "book.zip", files)
    source = next(one for one in list_sources([path]) if one.name == "a.html")
    data = source.load()
    assert b";name=company-logo.png;base64," in data and b"![](img/valve.png)" in data and b"etc/passwd.png" in data
    read = read_document(data, "a.html", ReadLimits(ocr_languages=""))
    assert [one.caption for one in read.pictures] == ["The valve"]


def test_pictures_beside_a_markdown_file_are_read_with_it(tmp_path: Path) -> None:
    drawn = draw_box()
    text = (
        "# Valves\n\n![A valve](images/a%20b.png)\n\nFigure 1: Valve of the tank\n\n"
        "Opened by hand.\n\n<img src='../images/other.png' alt='Its handle'>\n\n"
        "![](../../etc/passwd.png) ![](https://example.org/x.png) ![](images/none.png)\n\n"
        "```\n![](images/a%20b.png)\n```\n"
    )
    files = {"book/valves.md": text.encode(), "book/images/a b.png": drawn, "images/other.png": drawn}
    path = zipped(tmp_path / "book.zip", files)
    source = next(one for one in list_sources([path]) if one.name == "valves.md")
    data = source.load()
    assert data.count(b"data:image/png;base64,") == 2
    for kept in ("(../../etc/passwd.png)", "(https://example.org/x.png)", "(images/none.png)", "```\n![](images/a%20b"):
        assert kept.encode() in data
    read = read_document(data, "valves.md", ReadLimits(ocr_languages=""))
    assert [(one.label, one.caption, one.alternative) for one in read.pictures] == [
        ("Figure 1", "Figure 1: Valve of the tank", "A valve"),
        ("Picture 2", "", "Its handle"),
    ]

"""Exports of Confluence and SharePoint as sources: text, metadata, and that a broken export loses no document."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluence_export import Page, html_export, html_page, unpacked, xml_export, zipped

from argot.corpus.connectors.confluence_connector import ConfluenceConnector
from argot.corpus.connectors.export_dates import is_day_first, parse_date
from argot.corpus.connectors.listing import Patterns
from argot.corpus.connectors.sharepoint_connector import SharePointConnector
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation
from argot.corpus.corpus import Corpus
from argot.corpus.readers import ReadLimits, read_document
from argot.corpus.store.source_metadata import SourceMetadata, read_metadata
from argot.settings import Settings
from argot.types import Document, Principal

ROOT = Principal("root", sees_all=True)
PAGES = [
    Page(
        12345,
        "Pump maintenance",
        "<h2>Intervals</h2><p>Check the pump every 90 days.</p><table><tr><th>part</th><th>limit</th></tr>"
        "<tr><td>valve</td><td>12 bar</td></tr></table>",
        editor="Bob Bell",
        labels=("maintenance", "pumps"),
        attachments={"limits & more.csv": b"part,limit\nvalve,13 bar\n", "tool.exe": b"MZ"},
    ),
    Page(12346, "Night shift / rules", "<p>The night shift begins at 22:00.</p>"),
    Page(12347, "Third", "<p>The third page.</p>"),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    yield opened
    opened.close()


def sync(corpus: Corpus, place: Path, *, kind: Any = ConfluenceConnector, **how: Any) -> Synchronisation:
    store = SourceStore(corpus.store.database)
    record = next(iter(store.list_sources()), None) or store.add(SourceRecord("export", "confluence", "", {}))
    patterns = Patterns(exclude=how.pop("exclude", ()))
    confirmed = how.pop("confirmed", False)
    run = Synchronisation(corpus, record, lambda: kind(place, patterns, **how), by=ROOT, confirmed=confirmed)
    list(run.run())
    return run


def counts(run: Synchronisation) -> dict[str, int]:
    return {kind: count for kind, count in run.counts.items() if count}


def documents(corpus: Corpus) -> dict[str, Document]:
    return {one.title: one for one in corpus.store.documents(ROOT)}


def text(corpus: Corpus) -> str:
    return "\n".join(row[0] for row in corpus.store.database.connection().execute("SELECT markdown FROM revisions"))


def said(corpus: Corpus, title: str) -> SourceMetadata:
    return read_metadata(corpus.store.database.connection(), documents(corpus)[title].id)


@pytest.mark.parametrize("form", [html_export, xml_export])
@pytest.mark.parametrize("way", [zipped, unpacked])
def test_pages_become_documents_and_page_furniture_becomes_metadata(
    corpus: Corpus, tmp_path: Path, form: Any, way: Any
) -> None:
    place = way(tmp_path / "ENG", form(PAGES))
    run = sync(corpus, place)
    assert counts(run) == {"added": 4, "skipped": 1}, (run.detail, run.problems)
    found = documents(corpus)
    assert sorted(found) == ["Night shift / rules", "Pump maintenance", "Third", "limits & more"]
    pump = found["Pump maintenance"]
    assert (pump.date, pump.tags) == ("2026-03-05", ("maintenance", "pumps"))
    assert said(corpus, "Pump maintenance").author == "Bob Bell"
    assert found["limits & more"].name == "limits & more.csv" and found["limits & more"].tags == pump.tags
    markdown = text(corpus)
    assert "| valve | 12 bar |" in markdown and "## Intervals" in markdown
    for chrome in ("Created by", "Atlassian", "Handbook", "I like", "Attachments:", "former", "draft", "comment"):
        assert chrome not in markdown
    assert counts(sync(corpus, place))["unchanged"] >= 4
    assert corpus.check() == []


@pytest.mark.parametrize("form", [html_export, xml_export])
def test_a_renamed_page_and_new_labels_keep_the_document(corpus: Corpus, tmp_path: Path, form: Any) -> None:
    sync(corpus, zipped(tmp_path / "ENG.zip", form(PAGES)))
    before = documents(corpus)
    list(corpus.add([], tags=["mine"]))
    renamed = replace(PAGES[0], title="Pump care", labels=("pumps", "care"))
    run = sync(corpus, zipped(tmp_path / "ENG.zip", form([renamed, *PAGES[1:]])))
    assert counts(run) == {"updated": 2, "unchanged": 2, "skipped": 1}
    after = documents(corpus)
    assert after["Pump care"].id == before["Pump maintenance"].id
    assert after["Pump care"].tags == ("care", "pumps")
    passages = corpus.store.database.connection().execute("SELECT title FROM passages").fetchall()
    assert "Pump maintenance" not in {row[0] for row in passages}
    run = sync(corpus, zipped(tmp_path / "ENG.zip", form(PAGES[1:])))
    assert counts(run) == {"unchanged": 2, "removed": 2}


def test_citations_link_to_the_wiki(corpus: Corpus, tmp_path: Path) -> None:
    sync(corpus, zipped(tmp_path / "a.zip", html_export(PAGES)), base_uri="https://wiki.example.org/")
    assert {one.uri for one in documents(corpus).values()} == {
        "https://wiki.example.org/pages/viewpage.action?pageId=12345&title=Pump%20maintenance",
        "https://wiki.example.org/pages/viewpage.action?pageId=12346&title=Night%20shift%20%20%20rules",
        "https://wiki.example.org/pages/viewpage.action?pageId=12347&title=Third",
        "https://wiki.example.org/download/attachments/12345/limits%20%26%20more.csv",
    }
    assert documents(corpus)["Third"].name == "Third"
    before = {one.id for one in documents(corpus).values()}
    renamed = [replace(PAGES[0], title="Pump care"), *PAGES[1:]]
    sync(corpus, zipped(tmp_path / "a.zip", xml_export(renamed)), base_uri="https://wiki.example.org/")
    assert {one.id for one in documents(corpus).values()} == before and "Pump care" in documents(corpus)


def test_the_newest_of_several_archives_counts(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    import os

    first = zipped(tmp_path / "exports" / "a.zip", html_export(PAGES))
    os.utime(first, (1e9, 1e9))
    newer = replace(PAGES[1], body="<p>The night shift begins at 23:00.</p>")
    zipped(tmp_path / "exports" / "b.zip", html_export([newer]))
    assert counts(sync(corpus, tmp_path / "exports"))["added"] == 4
    assert corpus.store.phrase_count(ROOT, "23:00") and not corpus.store.phrase_count(ROOT, "22:00")


def test_a_broken_export_removes_no_document(corpus: Corpus, tmp_path: Path) -> None:
    for form in (html_export, xml_export):
        place = tmp_path / form.__name__
        sync(corpus, unpacked(place, form(PAGES)))
        held = len(documents(corpus))
        # Unpacked in part: a page and an attachment are missing.
        if form is html_export:
            (place / "ENG" / PAGES[1].file).unlink()
            shutil.rmtree(place / "ENG" / "attachments")
            run = sync(corpus, place, confirmed=True)
            assert {one.name for one in run.problems} == {PAGES[1].file, "limits & more.csv", "tool.exe"}
        else:
            entities = place / "entities.xml"
            entities.write_bytes(entities.read_bytes()[:-300])
            run = sync(corpus, place, confirmed=True)
            assert run.state == "failed" and "damaged or cut off" in run.detail
        assert len(documents(corpus)) == held
        corpus.store.database.connection()
        for one in list(documents(corpus).values()):
            corpus.remove(ROOT, one.id)
        with corpus.store.database.writing() as connection:
            connection.execute("DELETE FROM source_items")
    whole = zipped(tmp_path / "c.zip", html_export(PAGES)).read_bytes()
    (tmp_path / "c.zip").write_bytes(whole[: len(whole) // 2])
    run = sync(corpus, tmp_path / "c.zip")
    assert run.state == "failed" and "not a whole ZIP" in run.detail
    (tmp_path / "empty").mkdir()
    assert "no export of Confluence" in sync(corpus, tmp_path / "empty").detail
    assert "cannot be read" in sync(corpus, tmp_path / "none").detail


@pytest.mark.parametrize("kind", [ConfluenceConnector, SharePointConnector])
def test_xml_entities_are_refused(corpus: Corpus, tmp_path: Path, kind: Any) -> None:
    (tmp_path / "secret.txt").write_text("canary")
    laughs = "".join(f'<!ENTITY l{n} "&l{n - 1};&l{n - 1};&l{n - 1};&l{n - 1};">' for n in range(1, 20))
    for declared in (f'<!ENTITY x SYSTEM "{(tmp_path / "secret.txt").as_uri()}">', f'<!ENTITY l0 "ha">{laughs}'):
        bad = f'<?xml version="1.0"?><!DOCTYPE r [{declared}]><r><object class="Page">&x;</object></r>'.encode()
        files = {"entities.xml": bad, "Manifest.xml": bad}
        run = sync(corpus, zipped(tmp_path / "bad.zip", files), kind=kind)
        assert run.state == "failed" and "damaged or cut off" in run.detail
    assert "canary" not in text(corpus)


def test_confluence_storage_format_becomes_markdown(corpus: Corpus, tmp_path: Path) -> None:
    body = """<p>See <ac:link><ri:page ri:content-title="Other page" /></ac:link> and <ac:link><ri:page
    ri:content-title="X" /><ac:plain-text-link-body><![CDATA[these <words>]]></ac:plain-text-link-body></ac:link> by
    <time datetime="2026-04-01" />.</p><ac:structured-macro ac:name="code" ac:schema-version="1"><ac:parameter
    ac:name="linenumbers">true</ac:parameter><ac:parameter ac:name="language">python</ac:parameter><ac:plain-text-body>
    <![CDATA[if a < b:
    print("x")]]></ac:plain-text-body></ac:structured-macro><ac:structured-macro ac:name="warning"><ac:parameter
    ac:name="title">Hot!</ac:parameter><ac:rich-text-body><p>Let it cool.</p></ac:rich-text-body></ac:structured-macro>
    <ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body>Oil it
    </ac:task-body></ac:task></ac:task-list><ac:image><ri:attachment ri:filename="x.png" /></ac:image>"""
    sync(corpus, zipped(tmp_path / "a.zip", xml_export([Page(1, "One", body)])))
    markdown = text(corpus)
    assert "See Other page and these <words> by 2026-04-01." in " ".join(markdown.split())
    assert "```python\n" in markdown and "if a < b:" in markdown
    assert "Hot!" in markdown and "Let it cool." in markdown and "[x] Oil it" in markdown
    assert "linenumbers" not in markdown and "ac:" not in markdown and "CDATA" not in markdown


def test_a_single_exported_page_is_read_without_its_frame() -> None:
    parsed = read_document(html_page(PAGES[0]).encode(), "x.html", ReadLimits())
    assert "90 days" in parsed.markdown
    assert "Created by" not in parsed.markdown and "Attachments" not in parsed.markdown


def test_paths_and_links_in_an_export_cannot_leave_it(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("canary")
    files = {"../../evil_1.html": b"x", "/etc/evil_2.html": b"y", "a\\b_3.html": b"z", "x" * 290 + "_4.html": b"w"}
    files = {
        name: html_page(Page(n, f"P{n}", f"<p>Page number {n} is here.</p>")).encode()
        for n, name in enumerate(files, start=1)
    }
    place = zipped(tmp_path / "evil.zip", files)
    before = sorted(path for path in tmp_path.rglob("*") if "kb" not in path.parts)
    assert counts(sync(corpus, place)) == {"added": 4}
    assert sorted(path for path in tmp_path.rglob("*") if "kb" not in path.parts) == before
    folder = unpacked(tmp_path / "ENG", html_export(PAGES[1:]))
    (folder / "ENG" / "Link_9.html").symlink_to(tmp_path / "outside.txt")
    (folder / "loop").symlink_to(folder)
    sync(corpus, folder, confirmed=True)
    assert "canary" not in text(corpus)


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("Mar 05, 2026", "2026-03-05"),
        ("05 Mar, 2026", "2026-03-05"),
        ("5. March 2026", "2026-03-05"),
        ("05.03.2026", "2026-03-05"),
        ("2026-03-05 10:12:00.000", "2026-03-05"),
        ("2026-03-05T10:12:00Z", "2026-03-05"),
        ("3/15/2026 10:12 AM", "2026-03-15"),
        ("15/3/2026", "2026-03-15"),
        ("3/4/2026", ""),
        ("5/5/2026", "2026-05-05"),
        ("2026-02-31", ""),
        ("yesterday", ""),
    ],
)
def test_dates_in_exports_are_read(written: str, date: str) -> None:
    assert parse_date(written) == date


def test_one_unambiguous_date_decides_the_order_of_day_and_month() -> None:
    assert is_day_first(["3/4/2026", "x", "3/15/2026"]) is False
    assert parse_date("3/4/2026", day_first=False) == "2026-03-04"
    assert is_day_first(["3/4/2026", "15/3/2026"]) is True
    assert is_day_first(["3/4/2026"]) is None


# -- SharePoint -------------------------------------------------------------------------------------------------------

MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<SPObjects xmlns="urn:deployment-manifest-schema">
  <SPObject Id="f1" ObjectType="SPFile" ParentWebUrl="/sites/eng" Url="/sites/eng/Shared Documents/limits.md">
    <File Url="Shared Documents/limits.md" Id="f1" Name="limits.md" FileValue="00000001.dat" Version="2.0" Author="3"
      ModifiedBy="4" TimeCreated="2026-03-01T09:00:00" TimeLastModified="2026-03-05T10:12:00">
      <Versions><File Url="Shared Documents/limits.md" Version="1.0" FileValue="00000009.dat" /></Versions>
      <Properties><Property Name="vti_title" Type="String" Access="ReadWrite" Value="Limits by file" /></Properties>
    </File>
  </SPObject>
  <SPObject Id="i1" ObjectType="SPListItem">
    <ListItem FileUrl="Shared Documents/limits.md" DocType="File" Author="3;#Ann Ames" ModifiedBy="4"
      TimeLastModified="2026-03-05T10:12:00" Name="limits.md" DirName="Shared Documents" Version="2.0">
      <Fields>
        <Field Name="Title" Value="Valve limits" Type="Text" />
        <Field Name="TaxKeyword"
          Value="Valves|11111111-2222-3333-4444-555555555555;Limits|11111111-2222-3333-4444-555555555556" />
      </Fields>
    </ListItem>
  </SPObject>
  <SPObject Id="f2" ObjectType="SPFile">
    <File Url="Shared Documents/sub/rules.txt" Name="rules.txt" FileValue="00000002.dat" ModifiedBy="3"
      TimeLastModified="2026-02-01T10:12:00" />
  </SPObject>
  <SPObject Id="f3" ObjectType="SPFile">
    <File Url="Forms/AllItems.aspx" Name="AllItems.aspx" FileValue="00000003.dat" />
  </SPObject>
</SPObjects>
"""
USERS = """<?xml version="1.0" encoding="utf-8"?>
<UserGroupMap xmlns="urn:deployment-usergroupmap-schema"><Users>
<User Id="3" Name="Ann Ames" Login="i:0#.w|org\\ann" /><User Id="4" Name="Bob Bell" Login="i:0#.w|org\\bob" />
</Users></UserGroupMap>
"""
PACKAGE = {
    "Manifest.xml": MANIFEST.encode(),
    "UserGroup.xml": USERS.encode(),
    "Requirements.xml": b"<Requirements/>",
    "00000001.dat": b"# Limits\n\nThe valve opens at 12 bar.\n",
    "00000002.dat": b"Nobody works alone at night.\n",
    "00000003.dat": b"<html><p>chrome</p></html>",
}


@pytest.mark.parametrize("way", [zipped, unpacked])
def test_a_sharepoint_package_is_read_with_its_manifest(corpus: Corpus, tmp_path: Path, way: Any) -> None:
    place = way(tmp_path / "library", PACKAGE)
    base = {"base_uri": "https://org.sharepoint.com/sites/eng/"}
    run = sync(corpus, place, kind=SharePointConnector, **base)
    assert counts(run) == {"added": 2}, (run.detail, run.problems)
    limits = documents(corpus)["Valve limits"]
    assert (limits.date, limits.tags, limits.name) == ("2026-03-05", ("Limits", "Valves"), "limits.md")
    assert limits.uri == "https://org.sharepoint.com/sites/eng/Shared%20Documents/limits.md"
    assert said(corpus, "Valve limits").author == "Bob Bell"
    assert said(corpus, "rules").author == "Ann Ames"
    # Moved: the same document.
    moved = MANIFEST.replace("Shared Documents/sub/rules.txt", "Archive/rules.txt")
    run = sync(corpus, way(place, {**PACKAGE, "Manifest.xml": moved.encode()}), kind=SharePointConnector, **base)
    assert counts(run) == {"unchanged": 1, "renamed": 1}
    # A file in the manifest is missing in the package: its document is kept.
    place = way(tmp_path / "cut", {name: data for name, data in PACKAGE.items() if name != "00000001.dat"})
    run = sync(corpus, place, kind=SharePointConnector, confirmed=True, **base)
    assert [one.name for one in run.problems] == ["limits.md"]
    assert "Valve limits" in documents(corpus)


def test_a_sharepoint_library_is_read_with_its_csv_list(corpus: Corpus, tmp_path: Path) -> None:
    rows = (
        'ListSchema={"schemaXmlList":["<Field/>"]}\n'
        '"Name","Title","Modified","Modified By","Tags","Item Type","Path"\n'
        '"limits.md","Valve limits","3/5/2026 10:12 AM","Bob Bell","Valves; Limits","Item","sites/eng/Docs/a"\n'
        '"rules.txt","","3/25/2026 9:00 PM","Ann Ames","","Item","sites/eng/Docs"\n'
        '"limits.md","Other limits","3/6/2026 1:12 AM","Cyd","","Item","sites/eng/Docs/b"\n'
        '"gone.txt","Gone","3/6/2026","Cyd","","Item","sites/eng/Docs"\n'
    )
    files = {
        "Documents.csv": b"\xef\xbb\xbf" + rows.encode(),
        "Docs/a/limits.md": b"The valve opens at 12 bar.\n",
        "Docs/b/limits.md": b"The pump stops at 13 bar.\n",
        "Docs/rules.txt": b"Nobody works alone at night.\n",
        "Docs/parts.csv": b"name,price\nvalve,12\n",
        "Docs/tool.exe": b"MZ",
    }
    run = sync(corpus, unpacked(tmp_path / "library", files), kind=SharePointConnector)
    assert counts(run) == {"added": 4, "skipped": 1}, (run.detail, run.problems)
    found = documents(corpus)
    assert sorted(found) == ["Other limits", "Valve limits", "parts", "rules"]
    assert (found["Valve limits"].date, found["Valve limits"].tags) == ("2026-03-05", ("Limits", "Valves"))
    assert (said(corpus, "Other limits").author, found["rules"].date) == ("Cyd", "2026-03-25")
    assert counts(sync(corpus, tmp_path / "library", kind=SharePointConnector))["unchanged"] == 4

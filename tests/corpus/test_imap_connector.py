"""A mail folder as a source, from a real IMAP server on this machine."""

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imap_server
import pytest
from imap_server import Folder

from argot.corpus.connectors import imap_session
from argot.corpus.connectors.imap_connector import ImapConnector, parse_mailbox
from argot.corpus.connectors.imap_session import decode_folder_name
from argot.corpus.connectors.listing import Patterns
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation
from argot.corpus.corpus import Corpus
from argot.settings import Settings
from argot.types import Document, Principal

ROOT = Principal("root", sees_all=True)
REPORT = """From: Ann Ames <ann@example.org>
To: all@example.org
Date: Thu, 05 Mar 2026 10:12:00 +0100
Subject: =?utf-8?q?Report=3A_valves_=C3=A9t=C3=A9?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

The valve opens at 12 bar.
--b
Content-Type: text/csv; name=limits.csv
Content-Disposition: attachment; filename=limits.csv

part,limit
valve,12 bar
--b--
"""


def mail(word: str, subject: str = "") -> str:
    return f"From: bob@example.org\nSubject: {subject or f'About {word}'}\n\nThe {word} is here.\n"


@pytest.fixture
def folder() -> Iterator[Folder]:
    with imap_server.serving(Folder()) as serving:
        yield serving


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    yield opened
    opened.close()


def connector(folder: Folder, **how: Any) -> ImapConnector:
    given = {"password": folder.password, "encrypted": False, "private": True, **how}
    address = given.pop("address", f"imap://127.0.0.1:{folder.port}/INBOX")
    patterns = Patterns(exclude=given.pop("exclude", ()))
    return ImapConnector(parse_mailbox(address, "ann", **given), patterns)


def sync(corpus: Corpus, folder: Folder, *, confirmed: bool = False, **how: Any) -> Synchronisation:
    folder.asked.clear()
    folder.fetched.clear()
    store = SourceStore(corpus.store.database)
    record = next(iter(store.list_sources()), None) or store.add(SourceRecord("mail", "imap", "", {}))
    run = Synchronisation(corpus, record, lambda: connector(folder, **how), by=ROOT, confirmed=confirmed)
    list(run.run())
    return run


def counts(run: Synchronisation) -> dict[str, int]:
    return {kind: count for kind, count in run.counts.items() if count}


def documents(corpus: Corpus) -> dict[str, Document]:
    return {one.title: one for one in corpus.store.documents(ROOT)}


def markdown(corpus: Corpus, document: Document) -> str:
    sql = "SELECT markdown FROM revisions WHERE id = ?"
    return str(corpus.store.database.connection().execute(sql, (document.revision_id,)).fetchone()[0])


def test_messages_become_documents_and_only_new_ones_are_fetched(corpus: Corpus, folder: Folder) -> None:
    folder.add(REPORT, "\\Seen", "Invoices", "$Forwarded", "NonJunk")
    folder.add(mail("anvil"))
    folder.add(mail("gone"), "\\Deleted")
    run = sync(corpus, folder)
    assert counts(run) == {"added": 2}, run.detail
    report = documents(corpus)["Report: valves été"]
    assert (report.name, report.date, report.tags) == ("Report valves été.eml", "2026-03-05", ("Invoices",))
    assert report.uri == (
        f"imap://ann@127.0.0.1:{folder.port}/INBOX;UIDVALIDITY=7/1/Report%20valves%20%C3%A9t%C3%A9.eml"
    )
    assert report.values("author") == ("Ann Ames", "ann@example.org") and "limits.csv" in markdown(corpus, report)
    assert corpus.store.phrase_count(ROOT, "12 bar") >= 1
    assert folder.fetched == [1, 2]
    # Without changes the folder is not even listed.
    assert counts(sync(corpus, folder)) == {"unchanged": 2}
    assert not [one for one in folder.asked if one.startswith("UID")]
    folder.add(mail("bolt"))
    folder.remove(2)
    assert counts(sync(corpus, folder)) == {"unchanged": 1, "added": 1, "removed": 1}
    assert folder.fetched == [4]
    assert sorted(documents(corpus)) == ["About bolt", "Report: valves été"]
    assert corpus.check() == []


def test_labels_are_updated_and_manual_tags_are_kept(corpus: Corpus, folder: Folder) -> None:
    folder.counts_changes = False  # as servers without RFC 7162: everything is listed each time
    folder.add(REPORT, "old")
    folder.gmail = r'"\\Inbox" "Caf&AOk- (x)" plain'
    sync(corpus, folder)
    report = documents(corpus)["Report: valves été"]
    assert report.tags == ("Café (x)", "old", "plain")
    list(corpus.add([], tags=[]))
    folder.flag(1, "new", "\\Seen")
    assert counts(sync(corpus, folder)) == {"updated": 1}
    changed = documents(corpus)["Report: valves été"]
    assert changed.tags == ("Café (x)", "new", "plain")
    assert (changed.id, changed.uri) == (report.id, report.uri)
    folder.flag(1, "new")  # whether it was read is nothing to us
    assert counts(sync(corpus, folder)) == {"unchanged": 1}
    assert folder.fetched == []


def test_a_new_uidvalidity_keeps_the_documents(corpus: Corpus, folder: Folder) -> None:
    for word in ("anvil", "bolt", "nut"):
        folder.add(mail(word))
    sync(corpus, folder)
    before = {title: one.id for title, one in documents(corpus).items()}
    folder.validity = 8
    folder.messages = {uid + 10: one for uid, one in folder.messages.items()}
    assert counts(sync(corpus, folder)) == {"renamed": 3}
    assert {title: one.id for title, one in documents(corpus).items()} == before
    assert all(";UIDVALIDITY=8/" in one.uri for one in documents(corpus).values())


def test_removing_many_messages_needs_confirmation(corpus: Corpus, folder: Folder) -> None:
    for n in range(5):
        folder.add(mail(f"word{n}"))
    sync(corpus, folder)
    kept = dict(folder.messages)
    folder.messages.clear()
    folder.changes += 1
    run = sync(corpus, folder)
    assert (run.state, len(documents(corpus))) == ("held", 5)
    # Listed in part, as by a server under maintenance.
    folder.messages, folder.hides = kept, 2
    run = sync(corpus, folder, confirmed=True)
    assert run.state == "failed" and "named only 3 of its 5 messages" in run.detail
    assert len(documents(corpus)) == 5


def test_a_broken_connection_is_retried_once(corpus: Corpus, folder: Folder) -> None:
    folder.add(mail("anvil"))
    folder.add(mail("bolt"))
    folder.drops_at = "BODY.PEEK[])"
    assert counts(sync(corpus, folder)) == {"added": 2}
    folder.add(mail("nut"))
    folder.drops_at = "RFC822.SIZE"
    run = sync(corpus, folder)
    assert (run.state, counts(run)) == ("failed", {}) and "closed the connection" in run.detail
    assert counts(sync(corpus, folder)) == {"unchanged": 2, "added": 1}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"password": "wrong"}, "does not let its mail be read.*Invalid credentials"),
        ({"address": "imap://127.0.0.1:1/INBOX"}, "127.0.0.1 cannot be reached: connection refused$"),
        ({"address": "imap://127.0.0.1:{port}/Archive"}, "no folder 'Archive' for ann"),
        ({"encrypted": True}, "offers no encryption"),
        ({"private": False}, "private network.*private=yes"),
    ],
)
def test_a_failed_login_or_connection_is_reported_with_the_reason(
    corpus: Corpus, folder: Folder, how: Any, said: str
) -> None:
    given = {name: value.format(port=folder.port) if name == "address" else value for name, value in how.items()}
    run = sync(corpus, folder, **given)
    assert run.state == "failed"
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(run.detail)
    assert "sesame" not in run.detail


@pytest.mark.parametrize(
    ("says", "said"),
    [(b"* 1 FETCH (BODY[] {99999999999}\r\n", "more than 120 MB"), (b"* 1 FETCH (" + b"x" * 1_100_000, "a line of")],
)
def test_server_replies_are_bounded(corpus: Corpus, folder: Folder, says: bytes, said: str) -> None:
    folder.add(mail("anvil"))
    folder.says = says
    assert said in sync(corpus, folder).detail


def test_a_server_that_answers_too_slowly_is_given_up(
    corpus: Corpus, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap_session, "COMMAND_SECONDS", 0.0)
    folder.add(mail("anvil"))
    assert "took longer than 0 seconds" in sync(corpus, folder).detail


@pytest.mark.parametrize("scheme", ["imaps", "imap"])
def test_the_connection_is_encrypted_and_the_certificate_verified(
    corpus: Corpus, folder: Folder, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run([*made, *names, "-days", "2"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    folder.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    folder.context.load_cert_chain(certificate, key)
    folder.offers_tls = scheme == "imap"
    folder.add(mail("anvil"))
    how = {"address": f"{scheme}://localhost:{folder.port}/", "encrypted": True}
    run = sync(corpus, folder, **how)
    assert run.state == "failed" and "certificate" in run.detail.lower()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert counts(sync(corpus, folder, **how)) == {"added": 1}


def test_folder_names_in_modified_utf_7_are_decoded() -> None:
    folder = Folder(name="Entw&APw-rfe &- mehr")
    folder.add(mail("anvil"))
    with imap_server.serving(folder):
        box = parse_mailbox(
            f"imap://127.0.0.1:{folder.port}/Entw%C3%BCrfe%20&%20mehr",
            "ann",
            folder.password,
            encrypted=False,
            private=True,
        )
        there = ImapConnector(box, Patterns())
        assert len([one for one in there.list_documents({}) if one]) == 1
        there.close()
    assert decode_folder_name(folder.name.encode()) == "Entwürfe & mehr"
    assert decode_folder_name(b"&broken") == "&broken"


def test_messages_with_excluded_subjects_are_not_added(corpus: Corpus, folder: Folder) -> None:
    folder.add(mail("anvil"))
    folder.add(mail("x", "Newsletter 5/2026 <all>"))
    folder.add("Date: Thu, 05 Mar 2026 10:12:00 +0100\n\nNo subject.\n")
    assert counts(sync(corpus, folder, exclude=("Newsletter*",))) == {"added": 2}
    assert sorted(documents(corpus)) == ["About anvil", "message 3"]

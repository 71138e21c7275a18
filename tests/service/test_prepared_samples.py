"""Tests of the sample knowledge base that is prepared in the cache: when it is copied, and that the copy is whole."""

import shutil
from pathlib import Path

import pytest

from argot.service.operations import prepared_samples
from argot.service.operations.prepared_samples import copy_prepared, locate_prepared
from argot.service.storage.home_folder import MARKER, is_scratch
from argot.service.transport.knowledge_base_client import connect
from argot.service.usecases.documents.listing import DocumentFilter, document_find
from argot.settings import Settings


@pytest.fixture
def prepared(tiny_home: Path, tmp_path: Path) -> Settings:
    """Settings with a cache in which another small knowledge base takes the place of the samples'."""
    settings = Settings(home=tmp_path / "folder" / "kb", cache=tmp_path / "cache")
    shutil.copytree(tiny_home, locate_prepared(settings))
    return settings


def test_a_new_knowledge_base_is_a_copy_of_the_prepared_one(prepared: Settings, tiny_home: Path) -> None:
    assert copy_prepared(prepared.home, prepared)
    assert prepared.home.stat().st_mode & 0o077 == 0
    whole = {path.relative_to(tiny_home) for path in tiny_home.rglob("*") if not is_scratch(path.name)}
    assert {path.relative_to(prepared.home) for path in prepared.home.rglob("*")} == whole | {Path(MARKER)}
    with connect(prepared.home, prepared.replace(cache=Settings().cache)) as client:
        assert client.call(document_find, wanted=DocumentFilter()).documents
    assert not copy_prepared(prepared.home, prepared)


def test_nothing_is_copied_onto_what_is_there(prepared: Settings) -> None:
    prepared.home.mkdir(parents=True)
    assert not copy_prepared(prepared.home, prepared)
    assert not any(prepared.home.iterdir())


def test_a_copy_that_fails_leaves_nothing(prepared: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise OSError("no space")

    monkeypatch.setattr(prepared_samples, "_copy_durably", refuse)
    assert not copy_prepared(prepared.home, prepared)
    assert not any(prepared.home.parent.iterdir())


def test_other_settings_and_stores_have_no_prepared_samples(prepared: Settings) -> None:
    for change in ({"passage_chars": 600}, {"embedder": "/another"}, {"chroma_url": "http://127.0.0.1:1"}):
        assert not copy_prepared(prepared.home, prepared.replace(**change))
    assert not prepared.home.exists()

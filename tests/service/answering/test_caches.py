"""Tests of caches between questions: limited in size, separate for different readers, cleared by changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from argot.corpus.corpus import Corpus, Source
from argot.corpus.fifo_cache import SizedCache
from argot.settings import Settings
from argot.tools.senses import document_evidence
from argot.tools.senses.document_evidence import cache_evidence
from argot.types import EVERYONE, Audience, Principal

ANN, BEN, INSIDER = Principal("ann"), Principal("ben"), Principal("ida", frozenset({"vault"}))
ROOT = Principal("root", sees_all=True)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    add(opened, "open.md")
    add(opened, "secret.md", frozenset({"vault"}))
    yield opened
    opened.close()


def add(corpus: Corpus, name: str, audience: Audience = EVERYONE) -> None:
    text = f"# {name}\n\nThe pump of {name} is checked each morning.\n"
    list(corpus.add([Source(f"test:///{name}", name, text.encode)], audience=audience))


def shared(corpus: Corpus, principal: Principal, value: str) -> str:
    """Return the cached ids of one name, after storing `value` if none are cached."""
    (found,) = cache_evidence(corpus.store, principal, "name", lambda: (value,))
    return found


# -- the cache --------------------------------------------------------------------------------------------------------


def test_the_oldest_cache_entries_are_removed_first() -> None:
    kept = SizedCache(3)
    for number in range(10):
        kept.put(number, str(number))
    assert [number for number in range(10) if kept.get(number)] == [7, 8, 9]
    assert kept.size == 3


def test_large_cache_entries_count_by_their_size() -> None:
    kept = SizedCache(100)
    for number in range(10):
        kept.put(number, "large", 40)
    assert [number for number in range(10) if kept.get(number)] == [8, 9]
    assert kept.size == 80


def test_a_replaced_cache_entry_counts_once() -> None:
    kept = SizedCache(100)
    for size in (60, 30, 50):
        kept.put("one", size, size)
    assert (kept.get("one"), kept.size) == (50, 50)


def test_an_entry_larger_than_the_cache_is_not_stored() -> None:
    kept = SizedCache(10)
    kept.put("small", 1)
    kept.put("huge", 2, 11)
    assert (kept.get("small"), kept.get("huge"), kept.size) == (1, None, 1)


# -- cached evidence of senses ----------------------------------------------------------------------------------------


def test_readers_of_the_same_documents_share_cached_evidence(corpus: Corpus) -> None:
    assert shared(corpus, ANN, "of ann") == "of ann"
    assert shared(corpus, BEN, "of ben") == "of ann"


def test_readers_of_different_documents_do_not_share_cached_evidence(corpus: Corpus) -> None:
    assert shared(corpus, INSIDER, "of ida") == "of ida"
    assert shared(corpus, ANN, "of ann") == "of ann"
    assert shared(corpus, ROOT, "of root") == "of ida"  # both may read everything


def test_a_document_of_one_conversation_separates_its_owner_from_admins(corpus: Corpus) -> None:
    add(corpus, "mine.md", frozenset({"thread:t1"}))
    owner = Principal("olga", frozenset({"thread:t1", "vault"}))
    assert shared(corpus, owner, "of olga") == "of olga"
    assert shared(corpus, ROOT, "of root") == "of root"


def test_a_change_of_documents_clears_the_cached_evidence(corpus: Corpus) -> None:
    shared(corpus, ANN, "before")
    add(corpus, "new.md")
    assert shared(corpus, ANN, "after") == "after"
    corpus.remove(ROOT, "new.md")
    assert shared(corpus, ANN, "again") == "again"


def test_evidence_is_not_cached_if_documents_changed_meanwhile(corpus: Corpus) -> None:
    def slow() -> tuple[str]:
        add(corpus, "meanwhile.md")
        return ("stale",)

    assert cache_evidence(corpus.store, ANN, "name", slow) == ("stale",)
    assert shared(corpus, ANN, "fresh") == "fresh"


def test_cached_evidence_stays_within_its_size_limit(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_evidence, "_KEPT_BYTES", 100_000)
    for number in range(50):
        cache_evidence(corpus.store, ANN, number, lambda: tuple(map(str, range(100))))
    again = [cache_evidence(corpus.store, ANN, number, lambda: ()) for number in range(50)]
    assert 1 <= sum(len(found) == 100 for found in again) < 10

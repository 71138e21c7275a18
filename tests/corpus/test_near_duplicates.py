"""Near duplicates are found for those who may read them, and short documents are not taken for duplicates."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from argot.corpus.corpus import Corpus, Source
from argot.corpus.minhash import build_sketch, likeness
from argot.corpus.store.near_duplicates import find_near_duplicates
from argot.corpus.store.revision_reads import find_same_document
from argot.settings import Settings
from argot.types import EVERYONE, Principal

ROOT = Principal("root", sees_all=True)
EVE = Principal("eve")
WORDS = [f"word{n * n % 977}" for n in range(900)]
POLICY = "# Travel\n\n" + " ".join(WORDS)
EDITED = POLICY.replace(WORDS[450], "changed").replace(WORDS[700], "other")
OTHER = "# Leave\n\n" + " ".join(f"leave{n * n % 977}" for n in range(900))


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    yield opened
    opened.close()


def add(corpus: Corpus, name: str, text: str, **how: object) -> str:
    source = Source(f"test:///{name}", name, text.encode)
    (event,) = [one for one in corpus.add([source], **how) if one.kind in ("added", "updated")]  # type: ignore[arg-type]
    return event.near


def test_the_shared_wording_of_two_texts_is_estimated() -> None:
    assert likeness(build_sketch(POLICY), build_sketch(POLICY.upper())) == 1
    assert likeness(build_sketch(POLICY), build_sketch(EDITED)) > 0.9
    half = " ".join(WORDS[:600] + [f"new{n}" for n in range(300)])
    assert 0.35 < likeness(build_sketch(POLICY), build_sketch(half)) < 0.65  # 600 of 1,200 shingles
    assert likeness(build_sketch(POLICY), build_sketch(OTHER)) < 0.05
    assert build_sketch("# A title\n\nAnd a line.\n") == b""


def test_a_near_duplicate_is_reported_when_added_and_found_later(corpus: Corpus) -> None:
    assert add(corpus, "travel.md", POLICY) == ""
    assert add(corpus, "leave.md", OTHER) == ""
    assert add(corpus, "travel-copy.md", EDITED).startswith("travel.md (9")
    (pair,) = find_near_duplicates(corpus.store, ROOT)
    assert {pair.document.name, pair.other.name} == {"travel.md", "travel-copy.md"}
    of = corpus.store.document(ROOT, "travel-copy.md")
    assert [one.other.name for one in find_near_duplicates(corpus.store, ROOT, of)] == ["travel.md"]
    assert add(corpus, "travel-copy.md", OTHER + " and more") != ""  # now like another one
    assert find_near_duplicates(corpus.store, ROOT, corpus.store.document(ROOT, "travel.md")) == []
    corpus.remove(ROOT, "travel-copy.md")
    assert find_near_duplicates(corpus.store, ROOT) == []


def test_unreadable_near_duplicates_are_not_reported(corpus: Corpus) -> None:
    add(corpus, "secret.md", POLICY, audience=frozenset({"vault"}))
    assert add(corpus, "mine.md", EDITED, by=EVE) == ""
    assert find_near_duplicates(corpus.store, EVE) == []
    assert len(find_near_duplicates(corpus.store, ROOT)) == 1


def test_finding_near_duplicates_does_not_slow_down_with_many_documents(corpus: Corpus) -> None:
    def steps(look: Callable[[], object]) -> int:
        taken = 0

        def one() -> int:
            nonlocal taken
            taken += 1
            return 0

        connection.set_progress_handler(one, 10)
        look()
        connection.set_progress_handler(None, 0)
        return taken

    def both() -> tuple[int, int]:
        return steps(lambda: find_same_document(connection, "x", EVERYONE)), steps(
            lambda: find_near_duplicates(corpus.store, ROOT, corpus.store.document(ROOT, "travel.md"))
        ) - steps(lambda: corpus.store.document(ROOT, "travel.md"))

    connection = corpus.store.database.connection()
    add(corpus, "travel.md", POLICY)
    few = both()
    sources = [Source(f"test:///{n}", f"{n}.md", f"# {n}\n\nNote {n}: {n * 7}.".encode) for n in range(150)]
    assert [one.kind for one in corpus.add(sources)].count("added") == 150
    many = both()
    assert many[0] <= few[0] + 3 and many[1] <= few[1] + 10

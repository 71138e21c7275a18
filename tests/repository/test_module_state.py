"""No module keeps the state of an object: the object itself or the queue of jobs does, so that every part sees it."""

import ast
import re

import pytest
from repository import ROOT
from source_imports import modules

OWNERS = (
    "KnowledgeBase|CorpusStore|Corpus|Glossary|PairStore|RatingStore|People|Threads|Stores"
    "|ModelServer|Settings|Session|Principal|TermMatcher|Embedder"
)
KEYED_BY_OBJECTS = re.compile(
    rf"\bWeak(?:Key|Value)?(?:Dictionary|Set)\b|\b(?:[dD]ict|defaultdict|set|TTLCache|LRUCache)\[(?:{OWNERS})\b"
    # A class of our own that keeps values by the object they were made for.
    r"|\b[A-Z]\w*Cache\b"
)


def stateful_names(source: str) -> list[str]:
    """Return the names at module level that hold state of objects."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.AnnAssign | ast.Assign):
            made = [node.value.func] if isinstance(node.value, ast.Call) else []
            kept = [node.annotation, *made] if isinstance(node, ast.AnnAssign) else made
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if any(KEYED_BY_OBJECTS.search(ast.unparse(one)) for one in kept):
                found += [ast.unparse(one) for one in targets]
    return found


@pytest.mark.parametrize(
    "line",
    [
        "_jobs: WeakKeyDictionary[KnowledgeBase, int] = WeakKeyDictionary()",
        "_jobs = weakref.WeakKeyDictionary()",
        "_deriving: WeakSet[KnowledgeBase] = WeakSet()",
        "_kept: dict[CorpusStore, int] = {}",
        "_runs = defaultdict[KnowledgeBase, int](int)",
        "_meanings = MatcherCache[TermMeanings](8)",
    ],
)
def test_object_state_at_module_level_is_found(line: str) -> None:
    assert len(stateful_names(line)) == 1
    assert stateful_names(f"def function():\n    {line}\n\n\nclass Name:\n    {line}\n") == []


def test_tables_of_constants_are_not_object_state() -> None:
    assert stateful_names('KINDS: dict[str, JobKind] = {}\nSAYS: Mapping[str, str] = {"a": "WeakSet"}\n') == []


def test_no_module_keeps_object_state() -> None:
    found = {str(path.relative_to(ROOT)): stateful_names(path.read_text("utf-8")) for path in modules().values()}
    assert len(found) > 300 and {path: names for path, names in found.items() if names} == {}

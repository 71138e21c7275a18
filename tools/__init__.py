"""Tools of the graph's nodes: reading of questions, search, re-ranking, citations."""

from typing import TYPE_CHECKING

from argot.lazy import lazily

if TYPE_CHECKING:
    from argot.tools.answering.extractive_judge import ExtractiveJudge
    from argot.tools.answering.extractive_writer import ExtractiveWriter
    from argot.tools.llm.deriver import ModelDeriver
    from argot.tools.llm.judge import ModelJudge
    from argot.tools.llm.model_server import ModelServer
    from argot.tools.llm.reader import ModelReader
    from argot.tools.llm.writer import ModelWriter
    from argot.tools.reading.extractive_reader import ExtractiveReader
    from argot.tools.retrieval.hybrid_search import hybrid_search
    from argot.tools.retrieval.reranker import rerank
    from argot.tools.retrieval.triple_extraction import ExtractiveDeriver

__all__ = [
    "ExtractiveDeriver",
    "ExtractiveJudge",
    "ExtractiveReader",
    "ExtractiveWriter",
    "ModelDeriver",
    "ModelJudge",
    "ModelReader",
    "ModelServer",
    "ModelWriter",
    "hybrid_search",
    "rerank",
]

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = lazily(
        __name__,
        {
            "ExtractiveDeriver": "retrieval.triple_extraction",
            "ExtractiveJudge": "answering.extractive_judge",
            "ExtractiveReader": "reading.extractive_reader",
            "ExtractiveWriter": "answering.extractive_writer",
            "ModelDeriver": "llm.deriver",
            "ModelJudge": "llm.judge",
            "ModelReader": "llm.reader",
            "ModelServer": "llm.model_server",
            "ModelWriter": "llm.writer",
            "hybrid_search": "retrieval.hybrid_search",
            "rerank": "retrieval.reranker",
        },
    )

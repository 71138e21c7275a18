"""What a run is given: stores, readers, principal and profile. Handed in by the caller, never found in a global."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from argot.corpus.ingest import Corpus
from argot.jargon_db.glossary import Glossary
from argot.profile import Profile
from argot.protocols import AnswerWriter, QuestionReader, Scorer
from argot.results import ModelCall
from argot.settings import Settings
from argot.tools.extractive_answer import ExtractiveWriter
from argot.tools.extractive_reader import ExtractiveReader
from argot.tools.rerank import LexicalScorer
from argot.tools.support import SupportScorer
from argot.types import Principal, Sense


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """One question's surroundings.

    `scorer` says how well a passage answers a question, `support` how well it bears out a sentence of the answer.
    `asker_context` is the context the asker is at home in, if that is known.
    """

    corpus: Corpus
    glossary: Glossary
    principal: Principal
    profile: Profile
    reader: QuestionReader
    writer: AnswerWriter
    scorer: Scorer
    support: Scorer
    asker_context: str | None = None
    thread: str = ""
    max_question_chars: int = 4000
    model_calls: list[ModelCall] = field(default_factory=list)

    def in_thread(self, thread: str) -> RunContext:
        """The same surroundings in this thread, with an empty record of model calls."""
        return replace(self, thread=thread, model_calls=[])

    def take_model_calls(self) -> list[ModelCall]:
        """The calls made since this was last asked."""
        taken = list(self.model_calls)
        del self.model_calls[: len(taken)]
        return taken


ContextSource = Callable[[], RunContext]


def extractive_context(  # noqa: PLR0917
    corpus: Corpus,
    glossary: Glossary,
    principal: Principal,
    profile: Profile,
    settings: Settings | None = None,
    asker_context: str | None = None,
) -> RunContext:
    """Surroundings that need no language model. Cheap: the glossary caches its matcher, the corpus its embedder."""

    def senses() -> list[Sense]:
        return glossary.senses(principal, status="approved")

    return RunContext(
        corpus=corpus,
        glossary=glossary,
        principal=principal,
        profile=profile,
        reader=ExtractiveReader(glossary.matcher(principal), corpus.store, principal, corpus.embedder, senses),
        writer=ExtractiveWriter(corpus.embedder),
        scorer=LexicalScorer(),
        support=SupportScorer(),
        asker_context=asker_context,
        max_question_chars=settings.max_question_chars if settings else 4000,
    )

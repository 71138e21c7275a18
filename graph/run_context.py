"""The context of a run: stores, readers, principal and profile. The caller passes it in; it is never a global."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from argot.corpus.corpus import Corpus
from argot.jargon_db.glossary import Glossary
from argot.profile import Profile
from argot.protocols import AnswerWriter, QuestionReader, Scorer
from argot.results import ModelCall
from argot.settings import Settings
from argot.tools.answering.extractive_writer import ExtractiveWriter
from argot.tools.answering.support import SupportScorer
from argot.tools.reading.abbreviated_wording import replace_expansions, shorten_expansions
from argot.tools.reading.context_classifier import ContextSignatures
from argot.tools.reading.extractive_reader import ExtractiveReader, get_signatures
from argot.tools.reading.lay_words import get_meanings, replace_lay_words
from argot.tools.retrieval.meaning_reader import load_meaning_reader
from argot.tools.retrieval.passage_reader import load_passage_reader
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.types import ALL_DOCUMENTS, Principal, QuestionScope

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer
    from argot.tools.llm.session import Model
    from argot.tools.tool_servers.server_file import ToolServer


@dataclass(frozen=True, slots=True)
class ReaderAndWriter:
    """The reader and the writer of one turn, and the model's session that both use."""

    reader: QuestionReader
    writer: AnswerWriter
    model: Model


ReaderAndWriterSource = Callable[[list[ModelCall]], ReaderAndWriter]
"""Makes a turn's reader and writer, which append their calls of the model to this list."""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Surroundings of one question.

    `scorer` scores how well a passage answers a question, `support` how well it supports a sentence of the answer.
    `asker_context` is the asker's own context, if known; `heard` holds other people's messages just before the
    question, in a group conversation; only documents in the `scope` are searched, or only `documents` (ids) with the
    files added to the conversation. Without `records_misses` unknown terms are not recorded in the managers' queue,
    and no verified answer is given, because no person asks. `tool_servers`: other servers, by name, whose tools a
    thorough answer may call if the asker may use them. `is_shut_out` tells whether a user, by name, is suspended.
    `abbreviated` has the texts that were abbreviated in this turn, with the results.

    With a language model, `reader_and_writer` makes a new reader, writer and `model` for each turn: a session gives its
    server up at the first failure, and the next turn tries again. `quoting` then writes if the model cannot.
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
    heard: tuple[str, ...] = ()
    scope: QuestionScope = ALL_DOCUMENTS
    documents: tuple[str, ...] = ()
    thread: str = ""
    max_question_chars: int = 4000
    records_misses: bool = True
    tool_servers: Mapping[str, ToolServer] = field(default_factory=dict)
    model_calls: list[ModelCall] = field(default_factory=list)
    reader_and_writer: ReaderAndWriterSource | None = None
    model: Model | None = None
    quoting: AnswerWriter | None = None
    is_shut_out: Callable[[str], bool] = lambda _: False
    abbreviated: dict[str, str] = field(default_factory=dict)

    @property
    def signatures(self) -> ContextSignatures:
        """The words that are typical of each context, from the approved senses that the principal may read."""
        approved = partial(self.glossary.senses.find, self.principal, status="approved")
        return get_signatures(self.glossary.lookup.matcher(self.principal), approved)

    def abbreviate(self, text: str) -> str:
        """Return the text with the documents' short forms in place of full names and lay words."""
        # "jargon off" is the ablation without the glossary.
        if not (self.profile.look_up_jargon and self.profile.augment_question):
            return text
        # Several stages ask for the same query.
        if text not in self.abbreviated:
            self.abbreviated[text] = self._abbreviate(text)
        return self.abbreviated[text]

    def _abbreviate(self, text: str) -> str:
        matcher, store = self.glossary.lookup.matcher(self.principal), self.corpus.store
        text = replace_expansions(text, matcher, store, self.principal)
        approved = partial(self.glossary.senses.find, self.principal, status="approved")
        meanings = partial(get_meanings, matcher, approved, self.corpus.embedder)
        return replace_lay_words(text, matcher, meanings, store, self.principal)

    def shorten(self, text: str) -> str:
        """Return the text with full names replaced by the short forms that documents use (`shorten_expansions`)."""
        if not (self.profile.look_up_jargon and self.profile.augment_question):
            return text
        return shorten_expansions(text, self.glossary.lookup.matcher(self.principal), self.corpus.store, self.principal)

    def begin_turn(self, thread: str) -> RunContext:
        """Return the context for one turn in this thread, with an empty record of model calls and of wordings."""
        calls: list[ModelCall] = []
        run = replace(self, thread=thread, model_calls=calls, abbreviated={})
        # The extractive reader and writer keep no state between turns, and are shared.
        if self.reader_and_writer is None:
            return run
        reader_and_writer = self.reader_and_writer(calls)
        return replace(
            run, reader=reader_and_writer.reader, writer=reader_and_writer.writer, model=reader_and_writer.model
        )

    def take_model_calls(self, prompts: Collection[str] | None = None) -> list[ModelCall]:
        """Return and clear the calls recorded since the last time; only those of these prompts, if any are given."""
        taken = [call for call in self.model_calls if prompts is None or call.prompt in prompts]
        # In place, because reader and writer hold this same list.
        self.model_calls[:] = [call for call in self.model_calls if call not in taken]
        return taken


ContextSource = Callable[[], RunContext]


def count_kept_passages(run: RunContext) -> int:
    """Return how many passages are kept after re-ranking: a model gets more than people see."""
    return max(run.profile.passages, run.profile.passages_for_model) if run.model is not None else run.profile.passages


def count_answer_passages(run: RunContext) -> int:
    """Return how many passages an answer is written from: a model reads many, quotations come from the first few."""
    return run.profile.passages_for_model if run.model is not None else run.profile.passages_for_answer


def build_extractive_context(  # noqa: PLR0917
    corpus: Corpus,
    glossary: Glossary,
    principal: Principal,
    profile: Profile,
    settings: Settings | None = None,
    asker_context: str | None = None,
) -> RunContext:
    """Return a context that needs no language model. Cheap, because the glossary caches its matcher and the corpus its
    embedder.
    """
    approved = partial(glossary.senses.find, principal, status="approved")
    scorer = choose_scorer(settings)
    return RunContext(
        corpus=corpus,
        glossary=glossary,
        principal=principal,
        profile=profile,
        reader=ExtractiveReader(glossary.lookup.matcher(principal), corpus.store, principal, corpus.embedder, approved),
        writer=ExtractiveWriter(corpus.embedder, load_passage_reader(scorer), load_meaning_reader(corpus.embedder)),
        scorer=scorer,
        support=SupportScorer(),
        asker_context=asker_context,
        max_question_chars=settings.limits.max_question_chars if settings else 4000,
    )


def build_run_context(  # noqa: PLR0917
    corpus: Corpus,
    glossary: Glossary,
    principal: Principal,
    profile: Profile,
    settings: Settings,
    asker_context: str | None = None,
    server: ModelServer | None = None,
) -> RunContext:
    """Return a context with the language model if there is a server and the profile uses it, else one without."""
    run = build_extractive_context(corpus, glossary, principal, profile, settings, asker_context)
    return add_model(run, server, settings) if server is not None and profile.use_model else run


def add_model(run: RunContext, server: ModelServer, settings: Settings) -> RunContext:
    """Return the same context with the model as reader and writer from the next turn on; the extractive ones are the
    fallback.
    """

    def reader_and_writer(calls: list[ModelCall]) -> ReaderAndWriter:
        from argot.tools.llm.fallback import build_reader
        from argot.tools.llm.writer import ModelWriter

        model, forbidden = server.session(calls), settings.forbidden_words
        if run.profile.effort == "quick":  # the model only writes
            return ReaderAndWriter(
                run.reader, ModelWriter(model, product=settings.product, forbidden_words=forbidden), model
            )
        reader = build_reader(
            model,
            run.reader,
            run.glossary,
            run.corpus.store,
            run.principal,
            spare=run.profile.spare_model,
            forbidden_words=forbidden,
        )
        return ReaderAndWriter(reader, ModelWriter(model, product=settings.product, forbidden_words=forbidden), model)

    return replace(run, reader_and_writer=reader_and_writer, quoting=run.writer)

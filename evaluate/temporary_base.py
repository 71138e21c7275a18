"""The knowledge bases that suites measure, mostly temporary ones, with the same corpus, glossary and graph that people
use.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from argot.corpus.corpus import Corpus, Source
from argot.corpus.ingestion.ingest_job import IngestEvent
from argot.errors import InvalidInput
from argot.graph.run_context import RunContext, build_extractive_context, build_run_context
from argot.graph.single_question import SingleQuestions
from argot.jargon_db.glossary import Glossary
from argot.profile import Profile
from argot.results import AskResult
from argot.settings import Settings
from argot.tools.text.words import bare
from argot.types import EVERYONE, Mention, Principal

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer

Asker = Callable[..., Awaitable[AskResult]]
"""`(question, asker_context=None, earlier=())` -> the result of asking it in a new thread, after earlier messages."""

Identifier = Callable[[str], Awaitable[list[Mention]]]
"""A question -> the terms found in it."""

EVALUATOR = Principal("evaluation", sees_all=True)


class TemporaryBase:
    """A knowledge base in a folder that no other process has open. Use it as a context manager."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.corpus = Corpus.open(folder, settings)
        self.glossary = Glossary.open(folder / "glossary.db")

    def __enter__(self) -> TemporaryBase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.glossary.close()
        self.corpus.close()

    def add(self, sources: Iterable[Source], progress: Callable[[str, int, int], None]) -> None:
        """Add documents.

        Raises:
        InvalidInput: one of them cannot be read. Measurements of only part of a set would not be comparable.
        """
        for event in self.corpus.add(sources, audience=EVERYONE, tags=()):
            _refuse_failure(event)
            progress("adding documents", event.done, event.total)

    def import_glossary(self, csv_text: str, name: str) -> None:
        self.glossary.files.import_csv(csv_text, name)

    def add_context(self, name: str, description: str, contact: str) -> None:
        self.glossary.contexts.add(name, description, contact)

    def has_rows(self, table: Literal["derived", "triples"]) -> bool:
        """Return true if the table, of derived texts or of triples, has a row."""
        sql = f"SELECT EXISTS (SELECT 1 FROM {table})"  # noqa: S608
        return bool(self.corpus.store.database.connection().execute(sql).fetchone()[0])

    def has_word(self, word: str) -> bool:
        """Return true if the glossary has the word, as it is written or in small letters."""
        matcher = self.glossary.lookup.matcher(EVALUATOR)
        # The suite asks in capitals and in small letters, so the word must be unknown in both forms.
        return any(matcher.find(form) for form in (word, word.lower()))

    def make_identifier(self, server: ModelServer | None = None) -> Identifier:
        """Return a function that lists the terms of a question: without a model, or by asking a server's model each
        time.
        """
        run = build_extractive_context(self.corpus, self.glossary, EVALUATOR, Profile(), self.settings)
        if server is None:
            return run.reader.identify_jargon

        async def identify(question: str) -> list[Mention]:
            from argot.tools.llm.reader import ModelReader

            reader = ModelReader(server.session([]), run.reader, self.glossary.lookup.matcher(EVALUATOR))
            return await reader.identify_jargon(question)

        return identify

    def make_asker(
        self,
        profile: Profile,
        server: ModelServer | None = None,
        changed: Callable[[RunContext], RunContext] | None = None,
        *,
        earlier_by_model: bool = True,
    ) -> Asker:
        """Return a function that asks one question under this profile, as a person who may read everything.

        Without a server no language model is used. `changed` replaces parts of the run's context. Without
        `earlier_by_model` no model answers the messages before the question: a model that knows the answer to the
        question knows none to these.
        """
        asking = SingleQuestions()

        def build_run(server: ModelServer | None, asker_context: str | None) -> RunContext:
            run = build_run_context(
                self.corpus, self.glossary, EVALUATOR, profile, self.settings, asker_context, server=server
            )
            run = replace(run, records_misses=False)  # no person is asking, so nobody misses the term
            return changed(run) if changed else run

        async def ask_once(question: str, asker_context: str | None = None, earlier: Sequence[str] = ()) -> AskResult:
            before = [(build_run(server if earlier_by_model else None, asker_context), one) for one in earlier]
            return await asking.ask([*before, (build_run(server, asker_context), question)])

        return ask_once

    def find_passages(self, gold: Sequence[Mapping[str, str]]) -> frozenset[str]:
        """Return the ids of the passages that hold the gold quotations.

        Raises:
        InvalidInput: no passage of the document has the quotation.
        """
        found: set[str] = set()
        for one in gold:
            document = self.corpus.store.document(EVALUATOR, Path(one["document"]).name)
            # The quotation lacks the document's line breaks and Markdown.
            quote = bare(one["quote"])
            passages = self.corpus.store.passages_of(EVALUATOR, document.id)
            holding = {passage.id for passage in passages if quote in bare(passage.text)}
            if not holding:
                raise InvalidInput(f"No passage of {one['document']} holds the quotation {one['quote']!r}.")
            # Several passages may have the quotation; a citation of any of them is right.
            found |= holding
        return frozenset(found)


def _refuse_failure(event: IngestEvent) -> None:
    if event.kind == "failed":
        raise InvalidInput(f"{event.name} cannot be read: {event.detail}")

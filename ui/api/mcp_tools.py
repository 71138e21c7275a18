"""The tools that other assistants call by MCP, the same over standard input and output and over HTTP.

They return text of documents and the glossary. It is data, and the instructions to the assistant say so.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from pydantic import Field, TypeAdapter

from argot.errors import ArgotError, NotFound
from argot.locations import place
from argot.remedies import LIST_DOCUMENTS
from argot.results import AskResult
from argot.service.usecases.glossary.term_results import TermEntry, TermListing
from argot.ui.rendering.message_markdown import CHOICE_HINT, format_message, strip_footnotes
from argot.ui.rendering.term_text import format_entry, format_listing

logger = logging.getLogger(__name__)
ENTRY, LISTING = TypeAdapter(TermEntry), TypeAdapter(TermListing)

MAX_QUESTION_CHARS = 4000
MAX_PASSAGES = 20
MAX_SHOWN_CHARS = 40_000
"""Characters of a document in one result: more would crowd everything else out of an assistant's context."""
CHOOSE_BY_MEANING = "Ask the same question again, with `meaning` set to one of these numbers or in words."
ANSWER_ANYWAY_BY_MEANING = "For that answer, ask the same question again, with `meaning` set to 'answer anyway'."

Question = Annotated[str, Field(max_length=MAX_QUESTION_CHARS, description="The question, in the asker's own words.")]
Team = Annotated[
    str,
    Field(
        max_length=200, description="The asker's team or field: a term is read as used there, if nothing else decides."
    ),
]
Meaning = Annotated[
    str,
    Field(max_length=200, description="Only after Argot asked back: the number of a meaning, or its words."),
]
Limit = Annotated[int, Field(ge=1, le=MAX_PASSAGES, description="Maximum number of passages.")]
Term = Annotated[str, Field(min_length=1, max_length=200, description="One term or abbreviation, such as PUC.")]
DocumentName = Annotated[str, Field(min_length=1, max_length=2000, description="A document's name or id.")]
Part = Annotated[int, Field(ge=0, description="The number of a page or part; 0: where the passage is, or the first.")]
PassageId = Annotated[str, Field(max_length=200, description="The id of a passage, as `search` shows it.")]
Start = Annotated[int, Field(ge=0, description="Continue at this character, as the text before said.")]
Expansion = Annotated[str, Field(max_length=2000, description="What the term stands for.")]
Explanation = Annotated[str, Field(max_length=10_000, description="What it is, in a sentence.")]
TeamOfTerm = Annotated[str, Field(max_length=200, description="The team that uses the term so; empty: everybody.")]


class UseCaseCaller(Protocol):
    """A caller of use cases by name, on behalf of one person at a time."""

    async def acall(self, case: str, /, **parameters: Any) -> Any: ...


class AssistantTools:
    """The tools: each method is one, and its docstring is what an assistant reads of it.

    Args:
        calls: calls the use cases.
        site: the address of the pages that sources link to; empty if it is not known.
    """

    def __init__(self, calls: UseCaseCaller, site: str = "") -> None:
        self._calls = calls
        self._site = site.rstrip("/")

    async def call(self, case: str, /, **parameters: Any) -> Any:
        """Run a use case.

        Raises:
            ToolError: it failed; the message may be shown to the assistant.
        """
        from mcp.server.fastmcp.exceptions import ToolError

        try:
            return await self._calls.acall(case, **parameters)
        except ArgotError as error:
            # An assistant types no commands.
            raise ToolError(str(error).replace(LIST_DOCUMENTS, "Find one with the tool search.")) from error
        except Exception as error:
            logger.exception("a tool failed")
            # Only the kind: the text of an unexpected error may hold paths of this machine.
            raise ToolError(f"Argot could not do this ({type(error).__name__}). Its log has the details.") from error

    async def ask(self, question: Question, context: Team = "", meaning: Meaning = "") -> str:
        """Ask the organisation's documents a question. Returns an answer with numbered sources, how its jargon was
        understood, and which sentences nothing supports. If a term has several meanings it lists them: let the person
        choose, and ask the same question again with `meaning`. If the documents do not say, it says so: do not make an
        answer up.
        """
        from mcp.server.fastmcp.exceptions import ToolError

        # Tools keep no conversation: Argot's question is sent along as a message, which the next message answers.
        messages = [{"role": "user", "content": question}]
        found = await self.call("converse", messages=messages, context=context or None)
        if meaning and found["choices"]:
            offered = self._format_choice(found)
            messages += [{"role": "assistant", "content": strip_footnotes(self.format_answer(found))}]
            messages += [{"role": "user", "content": meaning}]
            found = await self.call("converse", messages=messages, context=context or None)
            if _is_same_text(found["stand_alone_question"], meaning):  # it was read as another question
                raise ToolError(f"Unknown meaning '{meaning}'. {offered}")
        return self._format_choice(found)

    async def search(self, query: Question, limit: Limit = 5, context: Team = "") -> str:
        """Find the passages of the organisation's documents that answer a question, best first, each with its source.
        Abbreviations and jargon are understood, so use the asker's own words.
        """
        return format_passages(await self.call("search", query=query, limit=limit, context=context or None))

    async def look_up_term(self, term: Term) -> str:
        """Look up what a term or abbreviation means in this organisation: every meaning, with the team that uses it so,
        who looks after it, and the sentence of a document that defines it. For an unknown one, the closest known terms.
        """
        return format_entry(ENTRY.validate_python(await self.call("term_show", term=term)))

    async def list_terms(
        self,
        text: Annotated[str, Field(max_length=200, description="Text in a term or meaning; empty: from A to Z.")] = "",
        context: Annotated[str, Field(max_length=200, description="Only terms of this team or field.")] = "",
        initial: Annotated[str, Field(max_length=1, description="Only terms that begin with this letter.")] = "",
        after: Annotated[str, Field(max_length=1000, description="Continue there, as the list before said.")] = "",
    ) -> str:
        """List the organisation's terms and abbreviations with their meanings: those that a text finds, or from A to Z,
        50 at a time.
        """
        found = await self.call("terms_list", query=text, context=context or None, initial=initial, after=after)
        return format_listing(LISTING.validate_python(found))

    async def open_document(self, document: DocumentName, part: Part = 0, passage: PassageId = "", start: Start = 0) -> str:  # fmt: skip  # noqa: E501
        """Read a document, a page or part at a time: the one with a passage, the one of this number, or the first. Use
        it after `search` or `ask`, to read what stands around a passage.
        """
        found = await self.call("document_text", document=document, part=part or None, passage=passage)
        return format_part(found, start)

    async def propose_term(
        self, term: Term, expansion: Expansion = "", description: Explanation = "", context: TeamOfTerm = ""
    ) -> str:
        """Propose what a term means, in the person's name. Those who look after the glossary decide on it. Give
        `expansion`, `description` or both. Use it only when the person asks for it.
        """
        given = {"term": term, "expansion": expansion, "description": description, "context": context}
        return format_suggestion(await self.call("term_suggest", **given))

    def format_answer(self, found: Mapping[str, Any]) -> str:
        """Format an answer as a message. A service on another machine sends it as `text`."""
        return str(found["text"]) if "text" in found else format_message(AskResult.model_validate(found), self._site)

    def _format_choice(self, found: Mapping[str, Any]) -> str:
        """Format an answer; if it asks back, say how to choose by a tool."""
        text = self.format_answer(found)
        if found["choices"] and found["status"] == "query_miss":
            return f"{text}\n\n{ANSWER_ANYWAY_BY_MEANING}"
        return text.replace(CHOICE_HINT, CHOOSE_BY_MEANING)


def _is_same_text(one: str, other: str) -> bool:
    return one.split() == other.split()


def format_passages(found: Mapping[str, Any]) -> str:
    """Format passages as text: the source of each, then its words."""
    terms = dict.fromkeys(f"{one['surface']} = {one['expansion'] or one['term']}" for one in found["jargon"])
    head = [f"Understood: {'; '.join(terms)}."] if terms else []
    passages = [
        f"[{number}] {one['document']}{place(one['document'], one['page'], one.get('page_kind'))}"
        f"{' · ' + one['heading'] if one['heading'] else ''} (passage {one['passage_id']})\n{one['text']}"
        for number, one in enumerate(found["passages"], 1)
    ]
    return "\n\n".join([*head, *passages]) if passages else "No passage that you may read is about this."


def format_part(found: Mapping[str, Any], start: int) -> str:
    """Format a part of a document from a character on: its name, its place among the parts, its text, how to go on.

    Raises:
        NotFound: the part ends before this character.
    """
    named, parts, part = found["document"], found["parts"], found["part"]
    kind = "page" if found["paged"] else "part"
    text = f"{found['columns']}{found['text']}"
    if start and start >= len(text):
        raise NotFound(f"This {kind} of '{named['name']}' ends at character {len(text)}. Give a smaller start.")
    shown = text[start : start + MAX_SHOWN_CHARS]
    following = next((one for one in parts if one > part), None)
    if start + len(shown) < len(text):
        more = f"\n\nThere is more of this {kind}: continue with start={start + len(shown)}."
    else:
        more = f"\n\nNext {kind}: part={following}." if following else ""
    gone = "The passage is not in the document any more.\n" if found["is_gone"] else ""
    head = f"{named['name']} (document {named['id']}), {kind} {part} of {parts[-1] if parts else part}"
    return f"{head}\n{gone}\n{shown}{more}"


def format_suggestion(found: Mapping[str, Any]) -> str:
    """Format a proposed meaning as it was recorded, and what happens with it."""
    means = "; ".join(one for one in (found["expansion"], found["description"]) if one)
    of = f" ({found['context']})" if found["context"] else ""
    return f"Proposed: {found['term']}{of} = {means}. Those who look after the glossary decide on it."

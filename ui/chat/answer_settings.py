"""The window's settings for answering: the profile, the asker's context, and the tags or documents to search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import chainlit as cl
from chainlit.context import context
from chainlit.input_widget import InputWidget, MultiSelect, Select

from argot.errors import NotFound
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import list_documents
from argot.service.usecases.glossary.contexts import context_list
from argot.service.usecases.questions.profiles import profile_list
from argot.service.usecases.questions.threads import AnswerSettings, ThreadRead, thread_list, thread_settings
from argot.types import Effort
from argot.ui.web.asker_identity import get_current_principal

ANSWER_SETTINGS = "answer_settings"
"""The session's key for settings that were chosen before the conversation began."""
PROFILE, EFFORT, CONTEXT, TAGS, DOCUMENTS = "profile", "effort", "context", "tags", "documents"
DEFAULT_VALUE = "-"
"""The value for "nothing in particular": the list cannot hold an empty one."""
PROFILES = {
    "As usual": DEFAULT_VALUE,
    "Strict: checked sentences only": "strict",
    "Helpful: never asks back": "lenient",
}
EFFORTS = {
    "As usual": DEFAULT_VALUE,
    "Quick: one try": "quick",
    "Thorough: plans and looks things up": "thorough",
}
MAX_TAGS = 200


class AnswerSettingsPanel:
    """The settings panel of a knowledge base's conversations."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    async def offer_new(self) -> None:
        """Offer the settings of a new conversation, with the context of the last one."""
        held = await thread_list(self.kb, await get_current_principal(self.kb))
        last = held[0].settings.context if held else None
        # The page may have named the one document to ask before this.
        await self._offer(AnswerSettings(context=last, documents=self.scope, tags=self.tags))

    async def offer_for_thread(self, thread: ThreadRead) -> None:
        """Offer the settings of a conversation that is continued (as `thread_read` returns it)."""
        await self._offer(thread.settings)

    async def keep_choice(self, values: dict[str, Any], thread: str) -> None:
        """Keep changed settings: with the conversation, or in the session until it begins."""
        # The field to choose fewer documents is shown only while a selection of documents is asked.
        documents = values.get(DOCUMENTS) if self.scope else ()
        # Settings without a field in the panel (dates and fields of documents, given over the API) stay.
        settings = replace(
            cl.user_session.get(ANSWER_SETTINGS) or AnswerSettings(),
            profile=_read_choice(values.get(PROFILE)),
            context=_read_choice(values.get(CONTEXT)),
            tags=tuple(str(tag) for tag in values.get(TAGS) or ()),
            documents=tuple(str(one) for one in documents or ()),
            effort=_read_effort(values.get(EFFORT)),
        )
        await self._save(settings, thread)
        await self.show_scope()

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags to whose documents this window's questions are restricted."""
        kept = cl.user_session.get(ANSWER_SETTINGS)
        return kept.tags if kept else ()

    @property
    def scope(self) -> tuple[str, ...]:
        """The documents (ids) to which this window's questions are restricted; empty for all."""
        kept = cl.user_session.get(ANSWER_SETTINGS)
        return kept.documents if kept else ()

    async def ask_only(self, documents: tuple[str, ...], thread: str, tags: tuple[str, ...] = ()) -> None:
        """Restrict questions to these documents (ids) and to those with these tags from now on; empty tuples lift the
        restriction.
        """
        kept = replace(cl.user_session.get(ANSWER_SETTINGS) or AnswerSettings(), documents=documents, tags=tags)
        await self._save(kept, thread)
        await self._offer(kept)

    async def _save(self, settings: AnswerSettings, thread: str) -> None:
        cl.user_session.set(ANSWER_SETTINGS, settings)
        try:
            await self._keep(thread, settings)
        except NotFound:  # not begun yet
            return

    async def settle(self, thread: str) -> None:
        """Store the settings chosen before with the conversation that has just begun."""
        settings = cl.user_session.get(ANSWER_SETTINGS)
        if settings and settings != AnswerSettings():
            await self._keep(thread, settings)

    async def _keep(self, thread: str, settings: AnswerSettings) -> None:
        await thread_settings(
            self.kb,
            await get_current_principal(self.kb),
            thread=thread,
            profile=settings.profile,
            context=settings.context,
            tags=list(settings.tags),
            since=settings.since,
            fields={name: [value for other, value in settings.fields if other == name] for name, _ in settings.fields},
            documents=list(settings.documents),
            effort=settings.effort,
        )

    async def _offer(self, settings: AnswerSettings) -> None:
        cl.user_session.set(ANSWER_SETTINGS, settings)
        profiles = await self._list_profiles()
        inputs: list[InputWidget] = [
            Select(
                id=PROFILE,
                label=translate("How to answer"),
                items=profiles,
                initial_value=settings.profile if settings.profile in profiles.values() else DEFAULT_VALUE,
                description=translate("Strict shows a sentence only once a passage supports it."),
            ),
            Select(
                id=EFFORT,
                label=translate("Effort"),
                items={translate(name): value for name, value in EFFORTS.items()},
                initial_value=settings.effort or DEFAULT_VALUE,
                description=translate("Thorough takes longer and needs a language model; you see its plan."),
            ),
        ]
        contexts = [one.name for one in await context_list(self.kb, await get_current_principal(self.kb))]
        if contexts:
            inputs.append(
                Select(
                    id=CONTEXT,
                    label=translate("Your own context"),
                    # A context that is itself called "-" could not be told from no choice.
                    items={
                        translate("None in particular"): DEFAULT_VALUE,
                        **{name: name for name in contexts if name != DEFAULT_VALUE},
                    },
                    # Since the conversation, the context may have been deleted or hidden from this person; so may tags.
                    initial_value=settings.context if settings.context in contexts else DEFAULT_VALUE,
                    description=translate(
                        "A term with several senses is read as this team uses it, if nothing else decides."
                    ),
                )
            )
        if tags := await self._list_tags():
            inputs.append(
                MultiSelect(
                    id=TAGS,
                    label=translate("Only documents tagged"),
                    values=tags,
                    initial=[tag for tag in settings.tags if tag in tags],
                    description=translate("None: all documents that you may read."),
                )
            )
        if names := await self._map_names(settings.documents):
            inputs.append(
                MultiSelect(
                    id=DOCUMENTS,
                    label=translate("Only these documents"),
                    items=names,
                    initial=list(names.values()),
                    description=translate("Remove it to ask all documents that you may read."),
                )
            )
        await cl.ChatSettings(inputs).send()
        await self.show_scope()

    async def show_scope(self) -> None:
        """Have the window show, above the field, which documents and tags are asked."""
        kept = cl.user_session.get(ANSWER_SETTINGS) or AnswerSettings()
        chosen = [{"id": id_, "name": name} for name, id_ in (await self._map_names(kept.documents)).items()]
        await context.emitter.send_window_message({"scope": {"documents": chosen, "tags": list(kept.tags)}})

    async def find_tag(self, tag: str) -> str:
        """Return a tag as it is spelt; empty if no document that this person may read has it."""
        return next((one for one in await self._list_tags() if one.casefold() == tag.casefold()), "")

    async def _list_profiles(self) -> dict[str, str]:
        """List the profiles for people, and those saved in this knowledge base, under their names."""
        found = await profile_list(self.kb, await get_current_principal(self.kb))
        return {translate(name): value for name, value in PROFILES.items()} | {
            one.name: one.name for one in found if one.origin == "saved" and not one.problem
        }

    async def _map_names(self, documents: tuple[str, ...]) -> dict[str, str]:
        """Map names to ids, for those of these documents that still exist."""
        if not documents:
            return {}
        held = await list_documents(self.kb, await get_current_principal(self.kb))
        names: dict[str, str] = {}
        for one in held:
            if one.id in documents:
                # Two documents may have one name.
                names[f"{one.name} ({one.id})" if one.name in names else one.name] = one.id
        return names

    async def _list_tags(self) -> list[str]:
        documents = await list_documents(self.kb, await get_current_principal(self.kb))
        return sorted({tag for document in documents for tag in document.all_tags})[:MAX_TAGS]


def _read_choice(value: object) -> str | None:
    return None if value in {None, "", DEFAULT_VALUE} else str(value)


def _read_effort(value: object) -> Effort | None:
    return next((one for one in get_args(Effort) if one == value), None)

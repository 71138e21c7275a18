"""Profiles: how questions are answered. Built-in ones, and those saved in the knowledge base."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from argot.errors import InvalidInput, InvalidSettings
from argot.profile import PROFILES, Profile, change_profile, compare_switches
from argot.profile_files import MAX_FILE_BYTES, SavedProfiles, format_profile, read_profile
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal

Origin = Literal["built in", "saved"]
Switches = Annotated[dict[Text, bool | int | float | Text | list[Text]], Field(max_length=100)]
"""Switches of a profile and the values they are changed to, as `{"rerank": false}`."""
BUDGETS = ("max_tool_calls", "max_tool_tokens")
About = Annotated[Text, Field(max_length=500)]
Toml = Annotated[Text, Field(max_length=MAX_FILE_BYTES)]


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """A profile: its purpose, and the switches that differ from the default.

    `problem`: why a saved one cannot be used; then its other fields are unknown.
    """

    name: str
    about: str
    origin: Origin
    changed: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ProfileShown:
    """A profile with all its switches, and as TOML that can be saved and edited."""

    name: str
    about: str
    origin: Origin
    changed: dict[str, Any]
    switches: dict[str, Any]
    toml: str


@usecase("asker")
async def profile_list(kb: KnowledgeBase, principal: Principal) -> list[ProfileSummary]:
    """List the profiles: the default first, then the built-in ones, then those saved here."""
    return await kb.blocking(_list_summaries, kb)


@usecase("asker")
async def profile_show(kb: KnowledgeBase, principal: Principal, *, name: Text) -> ProfileShown:
    """Show one profile, with every switch and what it does.

    Raises:
        InvalidSettings: there is none of this name, or its file is wrong.
    """
    return _show_profile(await kb.blocking(kb.profiles.find, name))


@usecase("manager", everywhere=True)
async def profile_save(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Text,
    base: Text | None = None,
    toml: Toml | None = None,
    switches: Switches | None = None,
    about: About | None = None,
    force: bool = False,
) -> ProfileShown:
    """Save a profile in the knowledge base.

    It is another one (`base`, by name) or one as `toml`, with `switches` changed.

    Raises:
        InvalidInput: both `base` and `toml` are given.
        InvalidSettings: the name, the base, a switch or a value is not valid.
        Conflict: there is one of this name; `force` replaces it.
    """
    if base is not None and toml is not None:
        raise InvalidInput("Give a base or a profile as TOML, not both.")
    started = read_profile(toml, name) if toml is not None else await kb.blocking(kb.profiles.find, base or "default")
    # Its base's purpose need not be that of this profile.
    description = about if about is not None else started.about if toml is not None else ""
    changed = change_profile(started, switches or {}).model_copy(update={"about": description})
    async with kb.writing:
        return _show_profile(await kb.blocking(lambda: kb.profiles.save(name, changed, replace=force)))


async def get_profile(profiles: SavedProfiles, name: str) -> Profile:
    """The profile of this name.

    Raises:
        InvalidSettings: there is none.
    """
    # For nearly every question nothing is read from the disk.
    return PROFILES[name] if name in PROFILES else await asyncio.to_thread(profiles.find, name)


async def choose_profile(kb: KnowledgeBase, named: str | None, thread_profile: str | None) -> Profile:
    """Return the profile named with the question, else the thread's, else the service's."""
    # The thread's may have been removed since; its questions continue without it.
    if (
        thread_profile
        and not named
        and thread_profile not in PROFILES
        and thread_profile not in await kb.blocking(kb.profiles.names)
    ):
        thread_profile = None
    return await get_profile(kb.profiles, named or thread_profile or kb.settings.profile)


def change_switches(profile: Profile, switches: Switches) -> Profile:
    """Return the profile with an asker's switches.

    Raises:
        InvalidSettings: there is no such switch, or it would give a question a larger budget than the profile does.
    """
    changed = change_profile(profile, switches)
    for name in BUDGETS:
        if getattr(changed, name) > (most := getattr(profile, name)):
            raise InvalidSettings(
                f"{name} is at most {most} here. A question may lower it; save a profile to raise it."
            )
    return changed


def _list_summaries(kb: KnowledgeBase) -> list[ProfileSummary]:
    built_in = [ProfileSummary(one.name, one.about, "built in", compare_switches(one)) for one in PROFILES.values()]
    return built_in + [_summarize(kb, name) for name in kb.profiles.names()]


def _summarize(kb: KnowledgeBase, name: str) -> ProfileSummary:
    try:
        found = kb.profiles.find(name)
    except InvalidSettings as error:
        # Wrongly edited by hand: the others are listed all the same.
        return ProfileSummary(name, "", "saved", problem=str(error))
    return ProfileSummary(name, found.about, "saved", compare_switches(found))


def _show_profile(profile: Profile) -> ProfileShown:
    origin: Origin = "built in" if profile.name in PROFILES else "saved"
    values = profile.model_dump(mode="json", exclude={"name", "about"})
    return ProfileShown(profile.name, profile.about, origin, compare_switches(profile), values, format_profile(profile))

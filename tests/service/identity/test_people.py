"""Tests of users and groups, and of what they are allowed to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from argot.databases import Stores
from argot.errors import InvalidInput, NotAllowed, NotFound
from argot.service.identity.people import People, make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal


@pytest.fixture
def people(stores: Stores):
    store = People(stores)
    yield store
    store.close()


def test_a_user_may_read_as_their_groups_and_themselves(people: People) -> None:
    people.add("ann", ("hr", "legal"))

    ann = people.principal("ann")

    assert ann.tokens == {"hr", "legal", "@ann"}
    assert not ann.sees_all


def test_adding_a_user_again_adds_groups_and_keeps_the_rest(people: People) -> None:
    first = people.add("ann", ("hr",), "Ann Lee")
    second = people.add("ann", ("legal",))

    assert second.groups == ("hr", "legal")
    assert second.display_name == "Ann Lee"
    assert second.created_at == first.created_at
    assert people.users() == [second]


def test_the_error_for_an_unknown_user_shows_the_command_that_adds_it(people: People) -> None:
    with pytest.raises(NotFound, match="argot user add bob"):
        people.principal("bob")


@pytest.mark.parametrize(
    "name", ["", " ", "@ann", "a\nb", "a" * 65, "local", "LOCAL", " ann", "a\x1fb", "'; DROP TABLE users"]
)
def test_invalid_user_names_are_refused(people: People, name: str) -> None:
    with pytest.raises(InvalidInput):
        people.add(name)
    assert people.users() == []


def test_a_name_that_differs_only_in_case_is_refused(people: People) -> None:
    people.add("root")
    with pytest.raises(InvalidInput, match="There is a user 'root' already"):
        people.add("ROOT")
    assert [one.name for one in people.users()] == ["root"]


def test_an_invalid_group_adds_no_user(people: People) -> None:
    with pytest.raises(InvalidInput, match="group"):
        people.add("ann", ("hr", "@bob"))
    assert people.users() == []


def test_names_in_other_scripts_are_allowed(people: People) -> None:
    assert people.add("Ünal Çelik", ("开发",)).groups == ("开发",)


def test_an_added_user_is_there_after_reopening(stores: Stores) -> None:
    store = People(stores)
    store.add("ann", ("hr",))
    # The store is not closed, as after a kill.
    again = People(stores)

    assert again.principal("ann").groups == {"hr"}
    again.close()
    store.close()


def test_the_local_user_reads_everything() -> None:
    assert make_local_principal().may_read(frozenset({"board"}))


# -- roles -----------------------------------------------------------------------------------------------------------


def test_a_role_determines_what_a_user_may_change(people: People) -> None:
    people.add("ann")
    assert people.user("ann").role == "asker"
    assert people.set_role("ann", "manager", ["Legal"]).manages == ("Legal",)
    ann = people.principal("ann")
    assert ann.may_manage("Legal") and not ann.may_manage("NAND") and not ann.sees_all
    people.set_role("ann", "manager")
    assert people.principal("ann").may_manage("any context")
    people.set_role("ann", "admin")
    assert people.principal("ann").sees_all
    people.set_role("ann", "asker")
    assert people.user("ann").role == "asker" and not people.principal("ann").sees_all


def test_limiting_a_manager_removes_only_the_group_of_managers(people: People) -> None:
    people.add("ann", ("managers", "hr"))
    assert people.user("ann").role == "manager"
    assert people.set_role("ann", "manager", ["Legal"]).groups == ("hr",)
    assert not people.principal("ann").may_manage("NAND")
    assert people.leave("ann", ["hr", "never in it"]).groups == ()


def test_an_admin_cannot_be_limited_to_single_contexts(people: People) -> None:
    people.add("ann")
    with pytest.raises(InvalidInput, match="'manager'"):
        people.set_role("ann", "admin", ["Legal"])
    assert people.user("ann").role == "asker"


@pytest.mark.parametrize("name", ["add", "remove", "reindex", "derive"])
async def test_a_manager_of_one_context_cannot_change_documents(tmp_path: Path, name: str) -> None:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(home=tmp_path / "kb"), create=True) as kb:
        leo = Principal("leo", manages=frozenset({"Legal"}))
        with pytest.raises(NotAllowed, match="manager of all contexts"):
            await catalogue.get_result(kb, leo, name)

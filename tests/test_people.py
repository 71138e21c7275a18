"""Users and groups, and what they are allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from argot.errors import InvalidInput, NotFound
from argot.service.people import People, local_principal


@pytest.fixture
def people(tmp_path: Path):
    store = People(tmp_path / "people.db")
    yield store
    store.close()


def test_a_user_has_its_groups_and_shows_them_at_the_door(people: People) -> None:
    people.add("ann", ("hr", "legal"))

    ann = people.principal("ann")

    assert ann.tokens == {"hr", "legal", "@ann"}
    assert not ann.sees_all


def test_adding_again_adds_groups_and_keeps_the_rest(people: People) -> None:
    first = people.add("ann", ("hr",), "Ann Lee")
    second = people.add("ann", ("legal",))

    assert second.groups == ("hr", "legal")
    assert second.display_name == "Ann Lee"
    assert second.created_at == first.created_at
    assert people.users() == [second]


def test_an_unknown_user_is_named_with_the_command_that_makes_it(people: People) -> None:
    with pytest.raises(NotFound, match="argot user add bob"):
        people.principal("bob")


@pytest.mark.parametrize("name", ["", " ", "@ann", "a\nb", "a" * 65, "local", " ann", "a\x1fb", "'; DROP TABLE users"])
def test_names_that_cannot_be_names(people: People, name: str) -> None:
    with pytest.raises(InvalidInput):
        people.add(name)
    assert people.users() == []


def test_a_bad_group_adds_nothing(people: People) -> None:
    with pytest.raises(InvalidInput, match="group"):
        people.add("ann", ("hr", "@bob"))
    assert people.users() == []


def test_names_in_other_scripts_are_names(people: People) -> None:
    assert people.add("Ünal Çelik", ("开发",)).groups == ("开发",)


def test_what_was_added_is_there_after_opening_again(tmp_path: Path) -> None:
    store = People(tmp_path / "people.db")
    store.add("ann", ("hr",))
    # Not closed: as after a kill.
    again = People(tmp_path / "people.db")

    assert again.principal("ann").groups == {"hr"}
    again.close()
    store.close()


def test_the_person_at_this_machine_reads_everything() -> None:
    assert local_principal().may_read(frozenset({"board"}))

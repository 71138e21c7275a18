"""Tests of stored data about people, on SQLite and on PostgreSQL: notices, links to the provider, Slack."""

from collections.abc import Iterator

import pytest

from argot.databases import Stores
from argot.errors import Conflict, NotFound
from argot.service.identity.people import People
from argot.service.identity.provider_links import Confirmed
from argot.slack.store.slack_store import MAX_WAIT_SECONDS, Channel, SlackStore, SlackThread

ISSUER = "https://id.example.org"


@pytest.fixture
def people(stores: Stores) -> Iterator[People]:
    opened = People(stores)
    for name in ("ann", "bob"):
        opened.add(name, ("hr",))
    yield opened
    opened.close()


def test_a_notice_is_given_to_each_person_once(people: People) -> None:
    said = [people.notices.claim(*one) for one in (("ann", "t1", "ka"), ("ann", "t1", "ka"), ("bob", "t1", "ka"))]
    assert said == [True, False, True]
    people.notices.forget("ann", "t1")
    assert people.notices.claim("ann", "t1", "ka")


def test_an_identity_providers_account_belongs_to_one_person(people: People) -> None:
    people.link("ann", ISSUER, "s1")
    with pytest.raises(Conflict, match="linked with ann"):
        people.link("bob", ISSUER, "s1")
    assert people.link("ann", ISSUER, "s2").linked
    found = people.links.find(ISSUER, "s2")
    assert found is not None and found.user == "ann" and found == people.links.of("ann")
    assert people.links.find(ISSUER, "s1") is None and people.links.find(ISSUER, "") is None


def test_new_groups_from_the_provider_replace_the_former_ones(people: People) -> None:
    people.link("ann", ISSUER, "s1")
    link = people.links.of("ann")
    assert link is not None and people.links.in_force() == []
    assert people.links.confirm(link, Confirmed(frozenset({"hr", "legal"}), True, "token"))
    assert people.user("ann").groups == ("hr", "legal") and people.user("ann").admin
    assert people.links.list_groups("ann") == {"hr", "legal"}
    # The link has changed since.
    assert not people.links.confirm(link, Confirmed(frozenset(), None, None))
    (now,) = people.links.in_force()
    assert people.lapse("ann", expecting=now) and not people.lapse("ann", expecting=now)
    assert people.user("ann").groups == () and people.user("ann").lapsed_at
    people.links.take_groups("bob", frozenset({"proxy"}))
    assert people.user("bob").groups == ("hr", "proxy")


def test_a_provisioned_group_has_a_name_and_members(people: People) -> None:
    sent = people.provisioned
    ann, bob = sent.take_person("ann", "e-1"), sent.take_person("bob", None)
    with pytest.raises(Conflict, match=ann):
        sent.take_person("ann", None)
    crew = sent.put_group(None, "Crew", "crew", "g-1", [ann, bob, ann])
    assert sent.group(crew).members == ((ann, "ann"), (bob, "bob")) and sent.person(bob).groups == ((crew, "Crew"),)
    with pytest.raises(Conflict, match=crew):
        sent.put_group(None, "CREW", "crew", None, [])
    with pytest.raises(NotFound, match="nobody"):
        sent.put_group(crew, "Crew", "crew", None, ["nobody"])
    sent.put_group(crew, "Night crew", "night", "g-1", [bob])
    assert people.user("ann").groups == ("hr",) and people.user("bob").groups == ("hr", "night")
    sent.set_inactive(ann, "2026-01-02T03:04:05+00:00")
    sent.change_person(ann, "e-2", "Ann A.")
    (first, second) = sent.people()
    assert {first.id, second.id} == {ann, bob} and sent.person(ann).inactive_at and people.user("ann").display_name
    sent.remove_person(bob)
    assert people.user("bob").groups == ("hr",) and [one.id for one in sent.people()] == [ann]
    sent.remove_group(crew)
    assert sent.groups() == []


def test_every_row_of_a_person_is_exported_and_erased(people: People) -> None:
    people.set_role("ann", "manager", ["sales"])
    people.sessions.begin("ann")
    people.keys.make("ann", "x")
    people.notices.claim("ann", "t1", "ka")
    SlackStore(people.database).link("T1", "U1", "ann")
    SlackStore(people.database).keep_thread(SlackThread("T1", "C1", "1.0", "U1", "t1", "ann"))
    kept = people.kept_of(["ann"])
    assert set(kept) == {
        "users", "memberships", "managed", "sessions", "keys", "notices", "slack_people", "slack_threads",
    }  # fmt: skip
    assert all(not {"hash", "password"} & row.keys() for rows in kept.values() for row in rows)
    # Rows that depend only on the user are deleted with it, but are counted here because they are deleted first.
    assert people.erase(["ann"]) == 8
    assert people.kept_of(["ann"]) == {} and people.kept_of(["bob"]).keys() == {"users", "memberships"}


def test_slack_channels_links_and_views_are_stored(people: People) -> None:
    slack = SlackStore(people.database)
    for mode in ("all", "off"):
        slack.set_channel(Channel("C1", mode, "thread", ("hr",), "sales", "quick"))  # type: ignore[arg-type]
    assert (
        slack.get_channel("C1") == Channel("C1", "off", "thread", ("hr",), "sales", "quick") == slack.list_channels()[0]
    )
    assert slack.get_channel("C2") == Channel("C2")
    assert [slack.forget_channel("C1") for _ in range(2)] == [True, False]
    for user in ("ann", "bob"):
        slack.link("T1", "U1", user)
    assert slack.find_linked_user("T1", "U1") == "bob" and slack.list_links() == [("T1", "U1", "bob")]
    assert [slack.unlink("T1", "U1") for _ in range(2)] == [True, False]
    for viewed in ("C1", "C2"):
        slack.keep_view("D1", "1.0", viewed)
    assert slack.view("D1", "1.0") == "C2" and slack.view("D1", "2.0") == ""


def test_a_slack_conversation_is_stored_once(people: People) -> None:
    slack = SlackStore(people.database)
    first = SlackThread("T1", "C1", "1.0", "public", "t1", "slack")
    for one in (first, SlackThread("T1", "C1", "1.0", "public", "t2", "slack", "3.0")):
        slack.keep_thread(one)
    assert slack.find_thread("T1", "C1", "1.0", "public") == slack.find_thread_by_id("t2")
    assert slack.find_thread_by_id("t1") is None
    slack.keep_thread(SlackThread("T1", "C9", "1.0", "public", "t2", "slack"))
    assert slack.list_threads("slack") == {"t2": SlackThread("T1", "C9", "1.0", "public", "t2", "slack")}
    assert slack.list_owners() == ["slack"]


def test_slack_events_are_taken_by_lane_and_time(people: People) -> None:
    slack, now = SlackStore(people.database), [1_000.0]
    slack.clock = lambda: now[0]
    assert slack.note("e1", "p1", "lane 1", "2.0", {"say": "one"})
    assert not slack.note("e1", "p9", "lane 1", "2.0", {}) and not slack.note("e9", "p1", "lane 1", "2.0", {})
    slack.note("e2", "p2", "lane 1", "1.0", {"say": "earlier"})
    slack.note("e3", "p3", "lane 2", "1.0", {"say": "two"})
    found = slack.find_next([])
    assert found is not None and found.job == {"say": "earlier"} and slack.count_waiting() == 3
    other = slack.find_next(["lane 1", "lane '"])
    assert other is not None and other.job == {"say": "two"}
    slack.postpone(other.id, 10)
    assert slack.find_next(["lane 1"]) is None and slack.find_next_due() == 10.0
    slack.postpone(other.id, MAX_WAIT_SECONDS * 2)  # as from a clock that was ahead
    assert slack.find_next(["lane 1"]) is not None
    slack.begin(found.id)
    slack.keep_answer(found.id, [{"text": "an answer"}])
    slack.keep_sent(found.id, 1)
    slack.take_over()
    again = slack.find_next([])
    assert again is not None and (again.tries, again.sent, again.answer) == (1, 1, [{"text": "an answer"}])
    slack.finish(found.id)
    slack.withdraw("p3")
    assert not slack.is_open(found.id) and slack.count_waiting() == 1

"""Tests of sessions and passwords: what is stored, when they end, and how often a password may be guessed."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from argot.databases import Stores
from argot.errors import InvalidInput, NotAllowed
from argot.service.identity import passwords
from argot.service.identity.passwords import require_password
from argot.service.identity.people import MIGRATIONS, Ended, People, make_local_principal
from argot.service.identity.sessions import DAY, HOUR, MOST_PER_USER, Lifetimes
from argot.service.identity.sign_in_attempts import LIMITS, WINDOW_SECONDS, Attempts, find_network
from argot.service.knowledge_base import KnowledgeBase
from argot.service.leaky_buckets import MOST_COUNTED
from argot.service.sign_in.password_sign_in import SignIn, SignInRefused
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.types import LOCAL_NAME

GOOD = "tilted copper llama 9"
OTHER = "seven quiet harbours"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the same algorithm with less memory, because tests hash often."""
    from argon2 import PasswordHasher

    monkeypatch.setattr(passwords, "_make_hasher", cache(lambda: PasswordHasher(1, 64, 1)))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def people(stores: Stores, clock: Clock) -> Iterator[People]:
    store = People(stores, Lifetimes(idle=2 * HOUR, most=DAY))
    store.sessions.clock = clock
    store.add("ann", ("hr",))
    store.add("bob")
    yield store
    store.close()


# -- sessions --------------------------------------------------------------------------------------------------------


def test_a_token_identifies_its_session_and_no_other_text_does(people: People) -> None:
    token = people.sessions.begin("ann", "192.0.2.7", "Firefox")
    found = people.sessions.find(token)
    assert found is not None
    assert (found.user, found.address, found.agent) == ("ann", "192.0.2.7", "Firefox")
    assert people.sessions.find_session(found.id) == found
    for wrong in ("", token[:-1], token + "x", found.id, "\ud800", "' OR 1=1 --"):
        assert people.sessions.find(wrong) is None


def test_stored_data_contain_no_token_and_no_password(people: People, tmp_path: Path) -> None:
    people.set_password("ann", GOOD)
    token = people.sessions.begin("ann")
    assert people.scrub()
    rows = [tuple(row) for table in ("users", "sessions") for row in people.database.rows(f"SELECT * FROM {table}")]
    stored = repr(rows).encode() + b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert token.encode() not in stored
    assert GOOD.encode() not in stored
    assert b"$argon2id$" in stored


def test_a_used_session_lives_no_longer_than_its_limit(people: People, clock: Clock) -> None:
    token = people.sessions.begin("ann")
    start = clock.now
    while clock.now - start < DAY - HOUR:
        clock.now += HOUR
        found = people.sessions.find(token)
        assert found is not None and people.sessions.due(found)
        people.sessions.note(found)
    clock.now = start + DAY + 1
    assert people.sessions.find(token) is None
    assert people.sessions.of("ann") == []


def test_an_unused_session_expires(people: People, clock: Clock) -> None:
    token = people.sessions.begin("ann")
    clock.now += 2 * HOUR
    assert people.sessions.find(token)
    clock.now += 1
    assert people.sessions.find(token) is None


def test_a_clock_that_was_ahead_does_not_prolong_a_session(people: People, clock: Clock) -> None:
    clock.now += DAY
    token = people.sessions.begin("ann")
    clock.now -= DAY
    assert people.sessions.find(token)  # this use records when it really began
    clock.now += 2 * HOUR + 1
    assert people.sessions.find(token) is None


def test_a_clock_that_is_ahead_ends_sessions_until_it_is_corrected(people: People, clock: Clock) -> None:
    token = people.sessions.begin("ann")
    clock.now += DAY
    assert people.sessions.find(token) is None
    people.sessions.begin("ann")  # deletes sessions that have ended
    clock.now -= DAY
    assert people.sessions.find(token)


def test_expired_sessions_are_deleted_and_each_person_has_a_limited_number(people: People, clock: Clock) -> None:
    people.sessions.begin("bob")
    clock.now += 30 * DAY
    tokens = [people.sessions.begin("ann") for _ in range(MOST_PER_USER + 3)]
    count = people.database.rows("SELECT count(*) FROM sessions")[0][0]
    assert count == MOST_PER_USER
    assert people.sessions.find(tokens[-1])


@pytest.mark.parametrize("act", ["password", "suspend", "end"])
def test_all_sessions_of_one_person_end_at_once(people: People, act: str) -> None:
    anns = [people.sessions.begin("ann") for _ in range(3)]
    bobs = people.sessions.begin("bob")
    told: list[Ended] = []
    people.watchers.append(told.append)
    if act == "password":
        people.set_password("ann", GOOD)
    elif act == "suspend":
        people.suspend("ann")
    else:
        assert people.sessions.end("ann") == 3
    assert [people.sessions.find(token) for token in anns] == [None] * 3
    assert people.sessions.find(bobs)
    assert {ended.user for ended in told} - {LOCAL_NAME} == {"ann"}
    assert any(ended.sessions and len(ended.sessions) == 3 for ended in told)


def test_one_session_can_be_ended_alone(people: People) -> None:
    one, other = people.sessions.begin("ann"), people.sessions.begin("ann")
    found = people.sessions.find(one)
    assert found
    assert people.sessions.end("bob", only=found.id) == 0
    assert people.sessions.end("ann", only=found.id) == 1
    assert people.sessions.find(one) is None
    assert people.sessions.find(other)


def test_sessions_outlive_a_restart(people: People, clock: Clock, stores: Stores) -> None:
    token = people.sessions.begin("ann")
    again = People(stores)
    again.sessions.clock = clock
    assert again.sessions.find(token)
    again.close()


def test_users_of_the_first_schema_version_are_migrated(tmp_path: Path) -> None:
    old = sqlite3.connect(tmp_path / "people.db")
    old.executescript(MIGRATIONS[0])
    old.execute("INSERT INTO users VALUES ('ann', 'Ann Lee', '2026-01-01')")
    old.execute("INSERT INTO memberships VALUES ('ann', 'managers')")
    old.execute("PRAGMA user_version = 1")
    old.commit()
    old.close()
    people = People(SqliteStores(tmp_path))
    ann = people.user("ann")
    assert (ann.groups, ann.role, ann.has_password, ann.suspended_at) == (("managers",), "manager", False, None)
    assert people.principal("ann").may_manage("any context")
    people.close()


# -- passwords -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "password", ["", "short", "a" * 40, "password12", "Password1", "1234567890", "annannannann", "ann2026", "x" * 2000]
)
def test_an_easily_guessed_password_is_refused_and_not_repeated(password: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        require_password("ann", password)
    assert not password or password not in str(refused.value)


@pytest.mark.parametrize("password", [GOOD, "пароль для всех нас", "vier kleine Worte", "🦙🦊🐢🦉🐙🦀🐝🐌🦋🐳"])
def test_a_long_password_is_accepted_in_any_script(people: People, password: str) -> None:
    people.set_password("ann", password)
    found = people.check_password("ann", password)
    assert found and found.name == "ann"
    assert people.check_password("ann", password + "x") is None
    assert people.check_password("bob", password) is None
    assert people.check_password("nobody", password) is None


def test_a_password_is_compared_in_unicode_normal_form(people: People) -> None:
    people.set_password("ann", "caf\u00e9 in the harbour")
    assert people.check_password("ann", "cafe\u0301 in the harbour")


def test_a_user_without_a_password_cannot_sign_in(people: People) -> None:
    assert people.check_password("ann", "") is None
    assert people.check_password("", "") is None


# -- signing in ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path):
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        opened.people.add("ann")
        opened.people.set_password("ann", GOOD)
        yield opened


async def _refused(sign_in: SignIn, name: str, password: str, address: str = "192.0.2.7") -> SignInRefused:
    with pytest.raises(SignInRefused) as refused:
        await sign_in.with_password(name, password, address)
    return refused.value


async def test_name_and_password_begin_a_session(kb: KnowledgeBase) -> None:
    token = await SignIn(kb).with_password(" ann ", GOOD, "192.0.2.7", "Firefox")
    found = kb.people.sessions.find(token)
    assert found and found.user == "ann"


async def test_the_error_does_not_reveal_whether_a_name_exists(kb: KnowledgeBase) -> None:
    sign_in = SignIn(kb)
    kb.people.add("carl")  # a user without a password
    said = {str(await _refused(sign_in, name, OTHER)) for name in ("ann", "carl", "nobody", "", "' --")}
    assert len(said) == 1


async def test_a_suspension_is_told_only_to_those_who_know_the_password(kb: KnowledgeBase) -> None:
    kb.people.suspend("ann")
    sign_in = SignIn(kb)
    assert (await _refused(sign_in, "ann", OTHER)).status == 401
    right = await _refused(sign_in, "ann", GOOD)
    assert right.status == 403 and "suspended" in str(right)
    kb.people.restore("ann")
    assert await sign_in.with_password("ann", GOOD, "192.0.2.7")


async def test_repeated_guesses_are_refused_even_at_once(kb: KnowledgeBase) -> None:
    sign_in = SignIn(kb)
    tries = await asyncio.gather(*(_refused(sign_in, "ann", f"{OTHER} {n}") for n in range(12)))
    assert sorted(one.status for one in tries) == [401] * LIMITS["both"] + [429] * (12 - LIMITS["both"])
    late = await _refused(sign_in, "ann", GOOD)
    assert late.status == 429 and late.wait > 0 and "minute" in str(late)
    assert await sign_in.with_password("ann", GOOD, "198.51.100.1")  # another address may still sign in


async def test_a_password_appears_in_no_message_and_no_log(kb: KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    sign_in = SignIn(kb)
    said = [str(await _refused(sign_in, "ann", OTHER))]
    await sign_in.with_password("ann", GOOD, "192.0.2.7")
    for parameters in ({"password": GOOD}, {"name": "ann", "password": "password12"}, {"name": 1, "password": GOOD}):
        with pytest.raises(InvalidInput) as refused:
            await catalogue.get_result(kb, make_local_principal(), "user_password", **parameters)
        said.append(str(refused.value))
    shown = await catalogue.get_result(kb, make_local_principal(), "user_add", name="eve", password=GOOD)
    everything = " ".join(
        [*said, caplog.text, str(shown), str(await catalogue.get_result(kb, make_local_principal(), "user_list"))]
    )
    assert GOOD not in everything and OTHER not in everything and "password12" not in everything
    assert "argon2" not in everything


async def test_changing_a_password_requires_the_current_one(kb: KnowledgeBase) -> None:
    sign_in = SignIn(kb)
    token = await sign_in.with_password("ann", GOOD, "192.0.2.7")
    with pytest.raises(SignInRefused, match="current password"):
        await sign_in.change_password("ann", OTHER, GOOD, "192.0.2.7")
    await sign_in.change_password("ann", GOOD, OTHER, "192.0.2.7")
    assert kb.people.sessions.find(token) is None
    assert await sign_in.with_password("ann", OTHER, "192.0.2.7")


async def test_a_suspended_user_has_no_principal(kb: KnowledgeBase) -> None:
    kb.people.suspend("ann")
    with pytest.raises(NotAllowed, match="argot user restore ann"):
        kb.principal("ann")


# -- limits ----------------------------------------------------------------------------------------------------------


def _until_refused(attempts: Attempts, name: str = "ann", address: str = "192.0.2.7") -> int:
    return next(n for n in range(1000) if attempts.begin(name, address) > 0)


def test_attempts_expire_with_time(clock: Clock) -> None:
    attempts = Attempts(clock)
    assert _until_refused(attempts) == LIMITS["both"]
    clock.now += attempts.begin("ann", "192.0.2.7") + 0.01
    assert attempts.begin("ann", "192.0.2.7") == 0
    clock.now += WINDOW_SECONDS
    assert _until_refused(attempts) == LIMITS["both"]


def test_attempts_are_limited_per_address_and_per_name(clock: Clock) -> None:
    attempts = Attempts(clock)
    assert next(n for n in range(1000) if attempts.begin(f"user{n}", "192.0.2.7") > 0) == LIMITS["address"]
    assert next(n for n in range(1000) if attempts.begin("bob", f"198.51.100.{n}") > 0) == LIMITS["name"]


def test_an_attack_does_not_lock_a_user_out_of_a_known_address(clock: Clock) -> None:
    attempts = Attempts(clock)
    assert attempts.begin("ann", "203.0.113.5") == 0
    attempts.note_success("ann", "203.0.113.5")
    for number in range(LIMITS["name"] * 2):
        attempts.begin("ann", f"198.51.100.{number}")
    assert attempts.begin("ann", "203.0.113.6") > 0
    assert attempts.begin("ann", "203.0.113.5") == 0


def test_a_successful_sign_in_clears_the_count(clock: Clock) -> None:
    attempts = Attempts(clock)
    for _ in range(100):
        assert attempts.begin("ann", "192.0.2.7") == 0
        attempts.note_success("ann", "192.0.2.7")


def test_the_memory_for_attempts_is_limited(clock: Clock) -> None:
    attempts = Attempts(clock)
    for number in range(MOST_COUNTED + 500):
        attempts.begin(f"user{number}", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(attempts) <= MOST_COUNTED


def test_attempts_count_by_network_rather_than_single_ipv6_address() -> None:
    assert find_network("2001:db8:1:2::5") == find_network("2001:db8:1:2:ffff::1") != find_network("2001:db8:1:3::5")
    assert find_network("::ffff:192.0.2.7") == find_network("192.0.2.7") == "192.0.2.7"
    assert find_network("testclient") == "testclient"

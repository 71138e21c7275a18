"""Tests of keys: how they are stored, created on the command line and on the account page, and when they end."""

import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from api_site import URL, Site

from argot.databases import Stores
from argot.errors import InvalidInput, NotAllowed, NotFound
from argot.service.identity.keys import MOST_PER_USER, PREFIX
from argot.service.identity.people import Ended, People
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.types import Principal
from argot.ui.cli.main import main

ADMIN = Principal("local", sees_all=True)


@pytest.fixture
def people(stores: Stores) -> Iterator[People]:
    people = People(stores)
    people.add("ann")
    people.add("bob")
    yield people
    people.close()


def test_only_a_hash_of_a_key_is_stored(people: People, tmp_path: Path) -> None:
    key, token = people.keys.make("ann", "  nightly \t report ")
    assert token.startswith(PREFIX) and len(token) > 40 and key.name == "nightly report"
    found = people.keys.find(token)
    assert found == key
    for other in (token[:-1], token.removeprefix(PREFIX), f"{PREFIX}x", "", token.upper(), key.id):
        assert people.keys.find(other) is None
    secret = token.removeprefix(PREFIX).encode()
    for path in tmp_path.iterdir():
        assert secret not in path.read_bytes(), path.name


def test_a_key_can_be_revoked_alone_and_a_suspension_revokes_all(people: People) -> None:
    told: list[Ended] = []
    people.watchers.append(told.append)
    (first, one), (_, two), (_, bobs) = (people.keys.make(name, "x") for name in ("ann", "ann", "bob"))
    with pytest.raises(NotFound):
        people.keys.revoke(first.id, user="bob")
    assert people.keys.revoke(first.id, user="ann").revoked_at
    assert told == [Ended("ann", frozenset({first.id}))]
    with pytest.raises(NotFound):
        people.keys.revoke(first.id)
    assert people.keys.find(one) is None and people.keys.find(two)
    people.suspend("ann")
    assert people.keys.find(two) is None and people.keys.of("ann") == []
    assert Ended("ann") in told
    people.restore("ann")
    assert people.keys.find(two) is None
    assert people.keys.find(bobs) and [key.user for key in people.keys.of()] == ["bob"]
    assert people.keys.erase("ann") == 2


def test_names_and_numbers_of_keys_are_limited(people: People) -> None:
    for name in ("", "  ", "x" * 81, "a\u202eb"):
        with pytest.raises(InvalidInput, match="Give the key a name"):
            people.keys.make("ann", name)
    for _ in range(MOST_PER_USER):
        people.keys.make("ann", "x")
    with pytest.raises(InvalidInput, match="Revoke one first"):
        people.keys.make("ann", "x")
    people.keys.make("bob", "x")


def test_the_use_of_a_key_is_recorded_only_now_and_then(people: People) -> None:
    key, token = people.keys.make("ann", "x")
    assert people.keys.due(key)
    people.keys.note(key)
    used = people.keys.find(token)
    assert used and used.used_at and not people.keys.due(used)


def ended(people: People, key_id: str) -> None:
    people.database.write("UPDATE keys SET ends_at = '2026-01-02T03:04:05.000+00:00' WHERE id = ?", key_id)


def test_a_key_may_have_an_expiry_date(people: People) -> None:
    (without, _), (key, token) = people.keys.make("ann", "x"), people.keys.make("ann", "y", 90)
    assert without.ends_at is None and not without.has_ended
    assert key.ends_at and key.created_at < key.ends_at and not key.has_ended
    ended(people, key.id)
    found = people.keys.find(token)
    assert found and found.has_ended
    assert {one.id: one.has_ended for one in people.keys.of("ann")} == {without.id: False, key.id: True}


def test_the_lifetime_of_a_key_is_limited_and_expired_keys_are_not_counted(people: People) -> None:
    for days in (0, -1, 3651):
        with pytest.raises(InvalidInput, match="1 to 3650 days"):
            people.keys.make("ann", "x", days)
    for _ in range(MOST_PER_USER):
        ended(people, people.keys.make("ann", "x", 1)[0].id)
    people.keys.make("ann", "x")


def test_keys_older_than_the_expiry_column_stay_valid(tmp_path: Path) -> None:
    from argot.service.identity.people import MIGRATIONS
    from argot.sqlite import open_database

    before = MIGRATIONS[: MIGRATIONS.index("ALTER TABLE keys ADD COLUMN ends_at TEXT")]
    with closing(open_database(tmp_path / "people.db", before)) as old:
        old.execute(
            "INSERT INTO keys (id, hash, user, name, created_at) VALUES ('k1', x'00', 'ann', 'old', '2026-01-01')"
        )
    with closing(People(SqliteStores(tmp_path))) as people:
        (key,) = people.keys.of("ann")
        assert (key.id, key.ends_at, key.has_ended) == ("k1", None, False)


# -- on the command line ----------------------------------------------------------------------------------------------


def test_keys_are_managed_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGOT_HOME", str(tmp_path / "kb"))

    def argot(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    assert argot("init")[0] == 0 and argot("user", "add", "ann")[0] == 0
    code, token, told = argot("key", "add", "ann", "--label", "nightly report")
    assert code == 0 and re.fullmatch(r"argot_[\w-]{43}\n", token)
    number = re.search(r"k[0-9a-f]{12}", told)
    assert number and "not shown again" in told
    _, listed, _ = argot("key", "list")
    assert number[0] in listed and "nightly report" in listed and "never" in listed
    assert token.strip() not in listed + argot("key", "list", "ann", "--json")[1]
    assert argot("key", "list", "--as", "ann")[1].count("\n") == 1
    code, _, told = argot("key", "add", "ann", "--days", "30")
    assert code == 0 and re.search(r"It ends on \d{4}-\d\d-\d\d \d\d:\d\d UTC", told)
    assert re.search(r"\tnever\t20\d\d-", argot("key", "list")[1])
    code, _, told = argot("key", "add", "ann", "--days", "0")
    assert code == 1 and "days" in told
    code, _, told = argot("key", "add", "ann", "--as", "bob")
    assert code == 1 and "no user 'bob'" in told
    code, _, told = argot("key", "add", "nobody")
    assert code == 1 and "There is no user 'nobody'" in told
    assert "as long as nobody has a password" in argot("key", "add", "local")[2]
    assert "is revoked" in argot("key", "revoke", number[0])[1]
    code, _, told = argot("key", "revoke", number[0])
    assert code == 1 and "argot key list" in told


# -- on the account page ----------------------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def site(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Site]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        for name in ("ann", "bob"):
            kb.people.add(name)
        yield Site(kb)


async def test_a_person_creates_sees_and_revokes_their_own_keys(site: Site) -> None:
    people = site.kb.people
    token = people.sessions.begin("ann")
    browser = {"Cookie": f"{site.authenticator.cookie}={token}", "Origin": URL, "Accept": "text/html"}
    csrf = {"csrf": site.authenticator._csrf(token)}
    bobs, _ = people.keys.make("bob", "of bob")
    async with site.program(None, **browser) as ann:
        made = await ann.post("/account/keys", data={**csrf, "name": "<script>alert(1)</script>"})
        found = re.search(r'<code class="new-key">(argot_[\w-]+)</code>', made.text)
        assert made.status_code == 200 and found and made.headers["cache-control"] == "no-store"
        assert "<script>" not in made.text and "&lt;script&gt;" in made.text
        page = (await ann.get("/account")).text
        assert found[1] not in page and "never used" in page and "of bob" not in page
        async with site.program(None, Authorization=f"Bearer {found[1]}") as program:
            assert (await program.get("/api/me")).json()["name"] == "ann"
            key = people.keys.of("ann")[0]
            assert (await ann.post(f"/account/keys/{bobs.id}/revoke", data=csrf)).status_code == 404
            assert (await ann.post(f"/account/keys/{key.id}/revoke")).status_code == 403
            gone = await ann.post(f"/account/keys/{key.id}/revoke", data=csrf)
            assert (gone.status_code, gone.headers["location"]) == (303, "/account#keys")
            assert (await program.get("/api/me")).status_code == 401
        assert (await ann.post("/account/keys", data={"name": "forged"})).status_code == 403
        assert (await ann.post("/account/keys", data={**csrf, "name": " "})).status_code == 400
    assert [one.name for one in people.keys.of()] == ["of bob"]


async def test_a_person_with_a_password_needs_it_to_create_a_key(site: Site) -> None:
    """Check it because a key outlives session and password: a stolen page must not be enough to create one."""
    site.kb.people.set_password("ann", "tilted copper llama 9")
    token = site.kb.people.sessions.begin("ann")
    browser = {"Cookie": f"{site.authenticator.cookie}={token}", "Origin": URL, "Accept": "text/html"}
    form = {"csrf": site.authenticator._csrf(token), "name": "a program"}
    async with site.program(None, **browser) as ann:
        assert 'name="your_password"' in (await ann.get("/account")).text
        for given, status in (({}, 403), ({"your_password": "wrong"}, 401)):
            assert (await ann.post("/account/keys", data={**form, **given})).status_code == status
        assert site.kb.people.keys.of("ann") == []
        made = await ann.post("/account/keys", data={**form, "your_password": "tilted copper llama 9"})
        assert made.status_code == 200 and len(site.kb.people.keys.of("ann")) == 1


async def test_an_expired_key_is_refused_with_the_reason(site: Site) -> None:
    people = site.kb.people
    token = people.sessions.begin("ann")
    browser = {"Cookie": f"{site.authenticator.cookie}={token}", "Origin": URL, "Accept": "text/html"}
    csrf = {"csrf": site.authenticator._csrf(token)}
    async with site.program(None, **browser) as ann:
        made = await ann.post("/account/keys", data={**csrf, "name": "for a week", "days": " 7 "})
        found = re.search(r'<code class="new-key">(argot_[\w-]+)</code>', made.text)
        assert found and ", ends 20" in made.text
        (key,) = people.keys.of("ann")
        async with site.program(None, Authorization=f"Bearer {found[1]}") as program:
            assert (await program.get("/api/me")).status_code == 200
            ended(people, key.id)
            refused = await program.get("/api/me")
            assert refused.status_code == 401
            told = refused.json()["error"]["message"]
            assert key.id in told and "ended on 2026-01-02 03:04 UTC" in told and "argot key add" in told
        assert ", ended 2026-01-02 03:04 UTC" in (await ann.get("/account")).text
        for days in ("0", "3651", "soon", "1e9"):
            wrong = await ann.post("/account/keys", data={**csrf, "name": "x", "days": days})
            assert wrong.status_code == 400 and "days" in wrong.text, days


async def test_only_an_admin_creates_or_sees_keys_of_others(site: Site) -> None:
    kb, ann = site.kb, Principal("ann")
    for name, given in (("key_add", {"name": "x", "user": "bob"}), ("key_list", {"user": "bob"}), ("key_list", {"user": "*"})):  # fmt: skip  # noqa: E501
        with pytest.raises(NotAllowed):
            await catalogue.get_result(kb, ann, name, **given)
    made = await catalogue.get_result(kb, ADMIN, "key_add", name="x", user="bob")
    with pytest.raises(NotFound):
        await catalogue.get_result(kb, ann, "key_revoke", key=made["id"])
    kb.people.suspend("ann")
    with pytest.raises(NotAllowed, match="suspended"):
        await catalogue.get_result(kb, ADMIN, "key_add", name="x", user="ann")
    assert len(await catalogue.get_result(kb, ADMIN, "key_list", user="*")) == 1
    assert all(
        "key" not in one and "hash" not in one for one in await catalogue.get_result(kb, ADMIN, "key_list", user="bob")
    )


def test_the_table_of_keys_has_only_the_necessary_columns(people: People) -> None:
    people.keys.make("ann", "x")
    columns = set(people.database.rows("SELECT * FROM keys")[0].keys())
    assert columns == {"id", "hash", "user", "name", "created_at", "used_at", "revoked_at", "ends_at"}

"""Limits that hold for all services on one PostgreSQL together: one statement each, by the clock of its server."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress

from argot.databases import Database
from argot.errors import StoreUnavailable
from argot.service.identity.sign_in_attempts import LIMITS, WINDOW_SECONDS, Key, find_network

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
"""So long after a service was killed its persons' places are taken."""
RENEW_SECONDS = 10.0
FRIEND_SECONDS = 30 * 86_400.0
"""So long it is known that somebody signed in from an address."""


def _hash_parts(*parts: object) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


class SharedPlaces:
    """Counts of everybody's questions under way in all services, and in a minute. Blocking: not for the event loop.

    A place lasts as long as its service renews it: one that is killed holds none after `LEASE_SECONDS`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._places: dict[str, tuple[str, str]] = {}

    def take(self, gate: str, person: str, *, at_once: int, per_minute: int) -> str | float:
        """A place, by which it is given back; or -1: they have as many as they may; or the seconds to wait.

        Raises:
            StoreUnavailable
        """
        place, key = secrets.token_hex(12), _hash_parts(person)
        rows = self._database.write_returning(
            "SELECT service_take_place(?, ?, ?, ?, ?, ?) AS wait",
            *(gate, key, place, at_once, per_minute, LEASE_SECONDS),
        )
        if wait := float(rows[0]["wait"]):
            return wait
        with self._guard:
            self._places[place] = (gate, key)
        return place

    def give_back(self, place: str) -> None:
        with self._guard:
            self._places.pop(place, None)
        try:
            self._database.write("DELETE FROM service_places WHERE place = ?", place)
        except StoreUnavailable as error:  # it is free when its lease is over
            logger.warning("a question's place is not given back: %s", error)

    def first(self, key: str, seconds: float) -> bool:
        """Use this key; return whether no service did so within so many seconds, at most 900.

        Raises:
            StoreUnavailable
        """
        rows = self._database.write_returning(
            "SELECT service_count(ARRAY[CAST(? AS text)], ARRAY[CAST(1 AS double precision)], ?) AS wait",
            *(_hash_parts("once", key), float(seconds)),
        )
        return not rows[0]["wait"]

    def renew(self) -> None:
        """Hold what this service holds for another while, and forget what is over.

        Raises:
            StoreUnavailable
        """
        with self._guard:
            held = dict(self._places)
        if held:
            rows = [(place, gate, person) for place, (gate, person) in held.items()]
            # Inserted where it is gone: a crash of PostgreSQL forgets all places, and its questions go on.
            self._database.write(
                "INSERT INTO service_places SELECT v.value ->> 0, v.value ->> 1, v.value ->> 2, service_seconds() + ?"
                " FROM jsonb_array_elements(CAST(? AS jsonb)) AS v"
                " ON CONFLICT (place) DO UPDATE SET until = excluded.until",
                *(LEASE_SECONDS, json.dumps(rows)),
            )
        with self._guard:
            gone = held.keys() - self._places.keys()
        # Given back meanwhile, and perhaps inserted again just now.
        for place in gone:
            self._database.write("DELETE FROM service_places WHERE place = ?", place)
        self._database.write("DELETE FROM service_places WHERE until < service_seconds() - 60")
        self._forget_counts()

    def _forget_counts(self) -> None:
        # Not those that somebody counts just now, who would be waited for.
        self._database.write(
            "DELETE FROM service_counts WHERE key IN (SELECT key FROM service_counts"
            " WHERE at < service_seconds() - CASE WHEN level < 0 THEN ? ELSE ? END FOR UPDATE SKIP LOCKED)",
            *(FRIEND_SECONDS, WINDOW_SECONDS),
        )


class SharedAttempts:
    """Attempts to sign in at all services together; as `sign_in_attempts.Attempts`, and blocking."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, name: str, address: str) -> float:
        """
        Raises:
            StoreUnavailable: nobody signs in meanwhile.
        """
        keys = self._list_keys(name, address)
        rows = self._database.write_returning(
            "SELECT service_count(ARRAY(SELECT jsonb_array_elements_text(CAST(? AS jsonb))),"
            " ARRAY(SELECT CAST(jsonb_array_elements_text(CAST(? AS jsonb)) AS double precision)), ?) AS wait",
            *(json.dumps([_hash_parts(*key) for key in keys]), json.dumps([LIMITS[key[0]] for key in keys])),
            float(WINDOW_SECONDS),
        )
        return float(rows[0]["wait"])

    def note_success(self, name: str, address: str) -> None:
        network = find_network(address)
        both: Key = ("both", name, network)
        others: Sequence[Key] = (("address", "", network), ("name", name, ""))
        # What is not known for a moment costs one attempt: whoever signs in is not kept from it.
        with suppress(StoreUnavailable):
            self._database.write("DELETE FROM service_counts WHERE key = ?", _hash_parts(*both))
            self._database.write(
                "UPDATE service_counts SET level = GREATEST(0, level - 1) WHERE key IN (?, ?) AND level >= 0",
                *(_hash_parts(*one) for one in others),
            )
            # Below 0: who signed in where, and no count.
            self._database.write(
                "INSERT INTO service_counts VALUES (?, -1, service_seconds())"
                " ON CONFLICT (key) DO UPDATE SET at = excluded.at",
                _hash_parts("friend", name, network),
            )

    def _list_keys(self, name: str, address: str) -> list[Key]:
        network = find_network(address)
        both: Key = ("both", name, network)
        if self._database.rows("SELECT 1 FROM service_counts WHERE key = ?", _hash_parts("friend", name, network)):
            return [both]
        return [both, ("address", "", network), ("name", name, "")]

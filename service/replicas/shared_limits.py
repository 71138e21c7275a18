"""Limits that apply to all services on one PostgreSQL together: one statement each, by the clock of its server."""

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
"""Time after which the slots of a killed service are freed."""
RENEW_SECONDS = 10.0
KNOWN_ADDRESS_SECONDS = 30 * 86_400.0
"""How long an address counts as known for a person."""


def _hash_parts(*parts: object) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


class SharedSlots:
    """Counts of everybody's running questions in all services, and within a minute. Blocking: not for the event loop.

    A slot lasts as long as its service renews it: a killed one holds none after `LEASE_SECONDS`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._places: dict[str, tuple[str, str]] = {}

    def take(self, gate: str, person: str, *, at_once: int, per_minute: int) -> str | float:
        """Return a slot id, with which to release it; or -1: the person has as many as allowed; or the seconds to wait.

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
        except StoreUnavailable as error:  # it is free when its lease expires
            logger.warning("a question's place is not given back: %s", error)

    def first(self, key: str, seconds: float) -> bool:
        """Claim this key; return whether no service did so within this many seconds, at most 900.

        Raises:
            StoreUnavailable
        """
        rows = self._database.write_returning(
            "SELECT service_count(ARRAY[CAST(? AS text)], ARRAY[CAST(1 AS double precision)], ?) AS wait",
            *(_hash_parts("once", key), float(seconds)),
        )
        return not rows[0]["wait"]

    def renew(self) -> None:
        """Renew this service's slots, and delete expired ones.

        Raises:
            StoreUnavailable
        """
        with self._guard:
            held = dict(self._places)
        if held:
            rows = [(place, gate, person) for place, (gate, person) in held.items()]
            # Inserted if missing: a crash of PostgreSQL loses all slots, and its questions continue.
            self._database.write(
                "INSERT INTO service_places SELECT v.value ->> 0, v.value ->> 1, v.value ->> 2, service_seconds() + ?"
                " FROM jsonb_array_elements(CAST(? AS jsonb)) AS v"
                " ON CONFLICT (place) DO UPDATE SET until = excluded.until",
                *(LEASE_SECONDS, json.dumps(rows)),
            )
        with self._guard:
            gone = held.keys() - self._places.keys()
        # Released meanwhile, and perhaps just inserted again.
        for place in gone:
            self._database.write("DELETE FROM service_places WHERE place = ?", place)
        self._database.write("DELETE FROM service_places WHERE until < service_seconds() - 60")
        self._forget_counts()

    def _forget_counts(self) -> None:
        # Not rows that another transaction is counting, which would have to be waited for.
        self._database.write(
            "DELETE FROM service_counts WHERE key IN (SELECT key FROM service_counts"
            " WHERE at < service_seconds() - CASE WHEN level < 0 THEN ? ELSE ? END FOR UPDATE SKIP LOCKED)",
            *(KNOWN_ADDRESS_SECONDS, WINDOW_SECONDS),
        )


class SharedAttempts:
    """Attempts to sign in at all services together; like `sign_in_attempts.Attempts`, but blocking."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, name: str, address: str) -> float:
        """Count an attempt, and return the seconds to wait before it; 0: none.

        Raises:
            StoreUnavailable: nobody can sign in meanwhile.
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
        # A failure here costs one counted attempt, but does not prevent the sign-in.
        with suppress(StoreUnavailable):
            self._database.write("DELETE FROM service_counts WHERE key = ?", _hash_parts(*both))
            self._database.write(
                "UPDATE service_counts SET level = GREATEST(0, level - 1) WHERE key IN (?, ?) AND level >= 0",
                *(_hash_parts(*one) for one in others),
            )
            # Below 0: a record of who signed in where, and no count.
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

"""Tables that services on one PostgreSQL share beside the stores: their secret, and counts that a crash may lose.

PostgreSQL only: with SQLite there is one service, which keeps all this in its memory. Times are the database server's,
so that the services' clocks may differ. The counts contain neither names nor addresses, only digests of them.
"""

from __future__ import annotations

from argot.databases import PerEngine, StoreMigration

MIGRATIONS: tuple[StoreMigration, ...] = (
    PerEngine(
        "",
        """
CREATE TABLE service_secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL);

-- Unlogged: written for each question, and no loss where a crash forgets it.
CREATE UNLOGGED TABLE service_counts (
    key TEXT PRIMARY KEY, level double precision NOT NULL, at double precision NOT NULL
);
CREATE UNLOGGED TABLE service_places (
    place TEXT PRIMARY KEY, gate TEXT NOT NULL, person TEXT NOT NULL, until double precision NOT NULL
);
CREATE INDEX service_places_of ON service_places (gate, person);

CREATE FUNCTION service_seconds() RETURNS double precision LANGUAGE sql VOLATILE AS
    'SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)';

-- Counts one more for each key if there is room for all of them; else nothing, and gives the seconds until there is.
CREATE FUNCTION service_count(keys text[], mosts double precision[], period double precision)
    RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    present double precision;
    wait double precision;
BEGIN
    INSERT INTO service_counts SELECT k, 0, 0 FROM unnest(keys) AS k ORDER BY k ON CONFLICT DO NOTHING;
    -- In one order, so that two who count the same keys do not wait for each other.
    PERFORM 1 FROM service_counts AS c WHERE c.key = ANY (keys) ORDER BY c.key FOR UPDATE;
    present := service_seconds();
    SELECT max((greatest(0, c.level - (present - c.at) * g.most / period) - (g.most - 1)) * period / g.most) INTO wait
        FROM service_counts AS c JOIN unnest(keys, mosts) AS g (key, most) ON g.key = c.key;
    IF wait > 0 THEN
        RETURN wait;
    END IF;
    UPDATE service_counts AS c
        SET level = greatest(0, c.level - (present - c.at) * g.most / period) + 1, at = present
        FROM unnest(keys, mosts) AS g (key, most) WHERE g.key = c.key;
    RETURN 0;
END $$;

-- Takes a place of this person's: 0. All are taken: -1. Too many within the minute: the seconds to wait.
CREATE FUNCTION service_take_place(
    gate_name text, person_key text, new_place text, most bigint, per_minute bigint, lease double precision
) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    wait double precision;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext(current_schema()), hashtext(gate_name || person_key));
    IF most > 0 AND most <= (
        SELECT count(*) FROM service_places AS p
        WHERE p.gate = gate_name AND p.person = person_key AND p.until > service_seconds()
    ) THEN
        RETURN -1;
    END IF;
    IF per_minute > 0 THEN
        wait := service_count(ARRAY[gate_name || person_key], ARRAY[CAST(per_minute AS double precision)], 60);
        IF wait > 0 THEN
            RETURN wait;
        END IF;
    END IF;
    INSERT INTO service_places VALUES (new_place, gate_name, person_key, service_seconds() + lease);
    RETURN 0;
END $$
""",
    ),
)

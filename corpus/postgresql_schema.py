"""PostgreSQL's additions to the schema of a corpus: functions that SQLite has, and row policies for readers.

A transaction declares its reader in the setting `argot.audience`: JSON with a principal's `tokens`, and whether that
one sees `all`; or `*` for the service itself. Without it, there are no rows. The service itself checks readers in its
queries and results; this is a second safeguard.
"""

# ruff: noqa: S608  only our own names are put into SQL

from __future__ import annotations

_FUNCTIONS = """
CREATE FUNCTION json_each(text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20
    AS 'SELECT jsonb_array_elements_text(CAST($1 AS jsonb))';
CREATE FUNCTION json_array(text, text) RETURNS json LANGUAGE sql IMMUTABLE AS 'SELECT json_build_array($1, $2)';
CREATE FUNCTION json_text(json[]) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT CAST(array_to_json($1) AS text)';
CREATE FUNCTION json_text(text[]) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT CAST(array_to_json($1) AS text)';
CREATE AGGREGATE json_group_array(json) (SFUNC = array_append, STYPE = json[], FINALFUNC = json_text, INITCOND = '{}');
CREATE AGGREGATE json_group_array(text) (SFUNC = array_append, STYPE = text[], FINALFUNC = json_text, INITCOND = '{}');
"""
"""Functions of SQLite's, which let one statement serve both engines. PostgreSQL looks them up in this schema for the
given types."""


def translate_documents(script: str) -> str:
    """Translate the first migration, in which a column is named like an SQL keyword."""
    return _FUNCTIONS + script.replace("    end INTEGER", '    "end" INTEGER')


def translate_fields(script: str) -> str:
    return script + guard_documents("document_fields")


def guard_documents(table: str) -> str:
    """Return the policy by which the rows of a table are found only by those who may read their documents."""
    return f"""
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY readers ON {table} USING (EXISTS (SELECT 1 FROM documents AS d WHERE d.id = {table}.document));
"""


def _guard_audience(table: str) -> str:
    # As a sub-select it is computed once per statement, not per row.
    return f"""
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY readers ON {table} USING (
    (SELECT current_setting('argot.audience', true)) = '*' OR audience = ANY (ARRAY(SELECT readable_audiences()))
);
"""


_READERS = """
CREATE FUNCTION may_read(audience text, reader jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT audience = '[]'
        OR EXISTS (SELECT 1 FROM json_each(audience) AS t WHERE jsonb_exists(reader -> 'tokens', t.value))
        OR (CAST(reader ->> 'all' AS boolean) AND NOT EXISTS (
            SELECT 1 FROM json_each(audience) AS t WHERE starts_with(t.value, 'thread:')
        ))
$$;
CREATE FUNCTION readable_audiences() RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT a.n FROM audiences AS a
    WHERE coalesce(current_setting('argot.audience', true), '') NOT IN ('', '*')
        AND may_read(a.tokens, CAST(nullif(nullif(current_setting('argot.audience', true), ''), '*') AS jsonb))
$$;
"""
ROW_SECURITY = (
    _READERS
    + "".join(map(_guard_audience, ("documents", "passages", "derived", "triples")))
    + guard_documents("revisions")
)

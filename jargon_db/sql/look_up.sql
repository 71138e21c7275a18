-- The jargon of one question, however many terms, in one statement (Golden-Retriever 3.4: a template, never composed text).
-- :keys   JSON list of [term number, rank, key]; several keys per term (exact form, then plural variants by rank).
-- Who may read a row is decided right after this statement, in one place: argot.jargon_db.store.rows.readable.
WITH wanted AS (
    SELECT CAST(json_extract(value, '$[0]') AS BIGINT) AS asked, CAST(json_extract(value, '$[1]') AS BIGINT) AS rank,
           json_extract(value, '$[2]') AS key
    FROM json_each(:keys) AS given
),
found AS (
    SELECT wanted.asked, wanted.rank, senses.id AS sense
    FROM wanted JOIN terms ON terms.key = wanted.key JOIN senses ON senses.term = terms.id
    UNION
    SELECT wanted.asked, wanted.rank, aliases.sense
    FROM wanted JOIN aliases ON aliases.key = wanted.key
)
SELECT found.asked, found.rank, sense_rows.*
FROM found JOIN sense_rows ON sense_rows.id = found.sense
WHERE sense_rows.status = 'approved'
ORDER BY found.asked, found.rank, sense_rows.context_name, sense_rows.id

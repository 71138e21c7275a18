-- Senses by words or their beginnings in the columns that :match names, oldest first, as many as are asked for.
-- :audiences NULL: all. Otherwise the audiences one may pass. :managed NULL: all contexts. Otherwise those of which one
-- may read drafts, beside one's own as :person. Who may read a row is decided again by rows.readable.
SELECT sense_rows.*
FROM (
    SELECT senses.id AS sense
    FROM sense_search CROSS JOIN senses ON senses.id = sense_search.rowid JOIN contexts ON contexts.id = senses.context
    WHERE sense_search MATCH :match AND senses.removed = 0
      AND (CAST(:status AS TEXT) IS NULL OR senses.status = :status)
      AND (CAST(:context_key AS TEXT) IS NULL OR contexts.key = :context_key)
      AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
           AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))
      AND (CAST(:managed AS TEXT) IS NULL OR senses.status = 'approved' OR senses.owner = :person
           OR contexts.name IN (SELECT value FROM json_each(:managed) AS passed))
    LIMIT :limit
) AS found JOIN sense_rows ON sense_rows.id = found.sense

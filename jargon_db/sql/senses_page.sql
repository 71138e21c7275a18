-- As senses.sql, :limit of them without the first :start, which are passed over without being read.
-- :audiences NULL: all. Otherwise the audiences one may pass. :managed NULL: all contexts. Otherwise those of which one
-- may read drafts, beside one's own as :person. Who may read a row is decided again by rows.readable.
SELECT sense_rows.*
FROM (
    SELECT senses.id AS sense
    FROM terms CROSS JOIN senses ON senses.term = terms.id CROSS JOIN contexts ON contexts.id = senses.context
    WHERE senses.removed = 0 AND (CAST(:context_key AS TEXT) IS NULL OR contexts.key = :context_key)
      AND (CAST(:status AS TEXT) IS NULL OR senses.status = :status)
      AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
           AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))
      AND (CAST(:managed AS TEXT) IS NULL OR senses.status = 'approved' OR senses.owner = :person
           OR contexts.name IN (SELECT value FROM json_each(:managed) AS passed))
    ORDER BY terms.key, terms.spelling, contexts.name, senses.id LIMIT :limit OFFSET :start
) AS found JOIN sense_rows ON sense_rows.id = found.sense
ORDER BY sense_rows.key, sense_rows.spelling, sense_rows.context_name, sense_rows.id

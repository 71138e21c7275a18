-- Senses by the beginning of a term's or an alias's key, the nearest keys first. :end is the first key that is too far.
-- :audiences NULL: all. Otherwise the audiences one may pass. :managed NULL: all contexts. Otherwise those of which one
-- may read drafts, beside one's own as :person. Who may read a row is decided again by rows.readable.
SELECT sense_rows.*, found.rank
FROM (
    SELECT senses.id AS sense, CASE WHEN terms.key = :key THEN 0 ELSE 2 END AS rank, terms.key AS near
    FROM terms JOIN senses ON senses.term = terms.id JOIN contexts ON contexts.id = senses.context
    WHERE terms.key >= :key AND terms.key < :end AND senses.removed = 0
      AND (CAST(:status AS TEXT) IS NULL OR senses.status = :status)
      AND (CAST(:context_key AS TEXT) IS NULL OR contexts.key = :context_key)
      AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
           AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))
      AND (CAST(:managed AS TEXT) IS NULL OR senses.status = 'approved' OR senses.owner = :person
           OR contexts.name IN (SELECT value FROM json_each(:managed) AS passed))
    ORDER BY terms.key, senses.id LIMIT :limit
) AS found JOIN sense_rows ON sense_rows.id = found.sense
UNION ALL
SELECT sense_rows.*, found.rank
FROM (
    SELECT senses.id AS sense, CASE WHEN aliases.key = :key THEN 1 ELSE 3 END AS rank, aliases.key AS near
    FROM aliases JOIN senses ON senses.id = aliases.sense JOIN contexts ON contexts.id = senses.context
    WHERE aliases.key >= :key AND aliases.key < :end AND senses.removed = 0
      AND (CAST(:status AS TEXT) IS NULL OR senses.status = :status)
      AND (CAST(:context_key AS TEXT) IS NULL OR contexts.key = :context_key)
      AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
           AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))
      AND (CAST(:managed AS TEXT) IS NULL OR senses.status = 'approved' OR senses.owner = :person
           OR contexts.name IN (SELECT value FROM json_each(:managed) AS passed))
    ORDER BY aliases.key, senses.id LIMIT :limit
) AS found JOIN sense_rows ON sense_rows.id = found.sense

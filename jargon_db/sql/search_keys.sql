-- Senses by the beginning of a term's or an alias's key, the nearest keys first. :end is the first key that is too far.
-- :audiences NULL: all. Otherwise the audiences one may pass; who may read a row is decided again by rows.readable.
SELECT sense_rows.*, found.rank
FROM (
    SELECT senses.id AS sense, iif(terms.key = :key, 0, 2) AS rank, terms.key AS near
    FROM terms JOIN senses ON senses.term = terms.id JOIN contexts ON contexts.id = senses.context
    WHERE terms.key >= :key AND terms.key < :end AND NOT senses.removed AND (:status IS NULL OR senses.status = :status)
      AND (:context_key IS NULL OR contexts.key = :context_key)
      AND (:audiences IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences))
           AND contexts.audience IN (SELECT value FROM json_each(:audiences))))
    ORDER BY terms.key LIMIT :limit
) AS found JOIN sense_rows ON sense_rows.id = found.sense
UNION ALL
SELECT sense_rows.*, found.rank
FROM (
    SELECT senses.id AS sense, iif(aliases.key = :key, 1, 3) AS rank, aliases.key AS near
    FROM aliases JOIN senses ON senses.id = aliases.sense JOIN contexts ON contexts.id = senses.context
    WHERE aliases.key >= :key AND aliases.key < :end AND NOT senses.removed
      AND (:status IS NULL OR senses.status = :status)
      AND (:context_key IS NULL OR contexts.key = :context_key)
      AND (:audiences IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences))
           AND contexts.audience IN (SELECT value FROM json_each(:audiences))))
    ORDER BY aliases.key LIMIT :limit
) AS found JOIN sense_rows ON sense_rows.id = found.sense

-- Keys of the terms with an approved meaning, from :first on and before :end, in their order: the list from A to Z.
-- :audiences NULL: all. Otherwise the audiences one may pass; who may read a row is decided again by rows.readable.
SELECT DISTINCT terms.key
FROM terms CROSS JOIN senses ON senses.term = terms.id CROSS JOIN contexts ON contexts.id = senses.context
WHERE terms.key >= :first AND terms.key < :end AND senses.removed = 0 AND senses.status = 'approved'
  AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
       AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))
ORDER BY terms.key LIMIT :limit

-- The first characters of the terms with an approved meaning in one context.
SELECT DISTINCT substr(terms.key, 1, 1) AS initial
FROM contexts CROSS JOIN senses ON senses.context = contexts.id CROSS JOIN terms ON terms.id = senses.term
WHERE contexts.key = :context_key AND senses.removed = 0 AND senses.status = 'approved'
  AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
       AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))

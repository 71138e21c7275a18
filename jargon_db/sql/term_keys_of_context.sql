-- As term_keys.sql, in one context: read from its senses, because a small context has few among many terms.
SELECT DISTINCT terms.key
FROM contexts CROSS JOIN senses ON senses.context = contexts.id CROSS JOIN terms ON terms.id = senses.term
WHERE contexts.key = :context_key AND terms.key >= :first AND terms.key < :end
  AND senses.removed = 0 AND senses.status = 'approved'
  AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
       AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))
ORDER BY terms.key LIMIT :limit

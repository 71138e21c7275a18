-- The approved senses of the terms with these keys.
-- :keys   JSON list of keys.
SELECT sense_rows.*
FROM json_each(:keys) AS wanted JOIN sense_rows ON sense_rows.key = wanted.value
WHERE sense_rows.status = 'approved' AND (CAST(:context_key AS TEXT) IS NULL OR sense_rows.context_key = :context_key)
ORDER BY sense_rows.key, sense_rows.spelling, sense_rows.context_name, sense_rows.id

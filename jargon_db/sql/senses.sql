-- Every sense, narrowed by what is given; a parameter that is NULL narrows nothing.
-- Free text (:query) is matched afterwards on normalised text, because LIKE knows neither Unicode case nor NFKC.
SELECT sense_rows.*
FROM sense_rows
WHERE (:context_key IS NULL OR context_key = :context_key)
  AND (:status IS NULL OR status = :status)
ORDER BY key, spelling, context_name, id

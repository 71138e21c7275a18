-- Every sense, narrowed by what is given; a parameter that is NULL narrows nothing.
-- In the order of the index over terms, so that the first page of a large glossary is there at once.
-- Free text (:query) is matched afterwards on normalised text, because LIKE knows neither Unicode case nor NFKC.
SELECT sense_rows.*
FROM terms CROSS JOIN senses ON senses.term = terms.id CROSS JOIN sense_rows ON sense_rows.id = senses.id
WHERE (CAST(:context_key AS TEXT) IS NULL OR sense_rows.context_key = :context_key)
  AND (CAST(:status AS TEXT) IS NULL OR senses.status = :status)
ORDER BY terms.key, terms.spelling, sense_rows.context_name, sense_rows.id

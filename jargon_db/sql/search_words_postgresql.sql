-- As search_words.sql; :match is a tsquery of quoted words.
SELECT sense_rows.*
FROM (
    SELECT senses.id AS sense
    FROM sense_search JOIN senses ON senses.id = sense_search.sense JOIN contexts ON contexts.id = senses.context
    WHERE sense_search.words @@ CAST(:match AS tsquery) AND senses.removed = 0
      AND (CAST(:status AS TEXT) IS NULL OR senses.status = :status)
      AND (CAST(:context_key AS TEXT) IS NULL OR contexts.key = :context_key)
      AND (CAST(:audiences AS TEXT) IS NULL OR (senses.audience IN (SELECT value FROM json_each(:audiences) AS passed)
           AND contexts.audience IN (SELECT value FROM json_each(:audiences) AS passed)))
      AND (CAST(:managed AS TEXT) IS NULL OR senses.status = 'approved' OR senses.owner = :person
           OR contexts.name IN (SELECT value FROM json_each(:managed) AS passed))
    ORDER BY senses.id LIMIT :limit
) AS found JOIN sense_rows ON sense_rows.id = found.sense
ORDER BY sense_rows.id

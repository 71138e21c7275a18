-- As matchable.sql, of the spellings with these keys alone.
-- :keys   JSON list of keys.
SELECT terms.spelling AS term, terms.spelling AS spelling, terms.key, senses.audience, contexts.audience AS context_audience
FROM json_each(:keys) AS wanted JOIN terms ON terms.key = wanted.value JOIN senses ON senses.term = terms.id
     JOIN contexts ON contexts.id = senses.context
WHERE senses.status = 'approved'
UNION ALL
SELECT terms.spelling, aliases.spelling, aliases.key, senses.audience, contexts.audience AS context_audience
FROM json_each(:keys) AS wanted JOIN aliases ON aliases.key = wanted.value JOIN senses ON senses.id = aliases.sense
     JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE senses.status = 'approved'

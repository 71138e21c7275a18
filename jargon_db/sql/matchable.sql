-- What the matcher is built from: every spelling of every approved sense, with both audiences that guard it.
SELECT terms.spelling AS term, terms.spelling AS spelling, terms.key, senses.audience, contexts.audience AS context_audience
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE senses.status = 'approved'
UNION ALL
SELECT terms.spelling, aliases.spelling, aliases.key, senses.audience, contexts.audience AS context_audience
FROM aliases JOIN senses ON senses.id = aliases.sense JOIN terms ON terms.id = senses.term
     JOIN contexts ON contexts.id = senses.context
WHERE senses.status = 'approved'

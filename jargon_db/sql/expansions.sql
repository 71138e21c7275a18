-- Term and expansion of every approved sense that has one, with both audiences that guard it.
SELECT terms.spelling, senses.expansion, senses.audience, contexts.audience AS context_audience
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE senses.status = 'approved' AND senses.expansion <> ''

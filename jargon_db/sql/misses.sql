-- Every question that met an unknown term, oldest first; whose question it is decides who may read it.
SELECT misses.term, misses.key, misses.dismissed,
       miss_questions.question, miss_questions.principal, miss_questions.asked, miss_questions.shared, miss_questions.told
FROM misses JOIN miss_questions ON miss_questions.miss = misses.id
ORDER BY misses.id, miss_questions.asked, miss_questions.id

"""Use cases of questions: asking, conversations, profiles, and insight into what was asked."""

"""Choosing among the senses of a term, with evidence from question and documents."""

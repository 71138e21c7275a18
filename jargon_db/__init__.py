"""The glossary: contexts, terms, senses and misses, looked up by SQL templates with bound parameters."""

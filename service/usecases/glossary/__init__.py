"""Use cases of the glossary: senses, contexts, proposals, history, files and mining."""

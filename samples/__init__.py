"""A small knowledge base of our own writing, with its glossary and its questions."""

"""Questions with the passages that answer them, made from documents: by patterns, from the glossary, with a model."""

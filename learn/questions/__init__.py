"""Questions with the passages that answer them, made of documents: by patterns, of the glossary, with a model."""

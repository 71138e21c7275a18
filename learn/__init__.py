"""Training data from documents, and the tuning of embedder, re-ranker and language model."""

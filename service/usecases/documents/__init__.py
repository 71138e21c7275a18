"""Use cases of documents: putting in, finding, revising and removing them; their sources and derived texts."""

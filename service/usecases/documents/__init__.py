"""Use cases of documents: adding, finding, revising and removing them; their sources and derived texts."""

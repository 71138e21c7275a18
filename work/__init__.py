"""Long work that goes through a queue: syncs, texts derived of documents, files that were sent."""

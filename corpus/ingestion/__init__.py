"""Adding and removing documents: sources, the ingest job, derivation, rebuilding vectors."""

"""A knowledge base's folder: its lock, damage, restoring it; and SQLite as the service's own stores use it."""

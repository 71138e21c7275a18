"""SQLite as the service's own stores use it, and stores that stop answering."""

"""PostgreSQL beneath the stores: connections, errors, locks, notices, and our SQL in its words."""

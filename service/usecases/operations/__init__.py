"""Use cases of operations: backups, checks, metrics and the queue of jobs."""

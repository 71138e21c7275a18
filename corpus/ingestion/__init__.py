"""Documents on their way in and out: sources, the job that adds them, derivation, building vectors again."""

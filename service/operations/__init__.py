"""Running a knowledge base: backup, restore, doctor, metrics, logs, evaluation, samples."""

"""Work on or beside a knowledge base: doctor, evaluation, samples, retention, schedule, file handles."""

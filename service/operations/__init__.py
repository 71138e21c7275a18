"""What is run on or beside a knowledge base: doctor, evaluation, samples, retention, schedule, file handles."""

"""What is run on or beside a knowledge base: doctor, evaluation, samples, retention, limits on file handles."""

"""Use cases of the pairs, the trainings and the models adopted."""

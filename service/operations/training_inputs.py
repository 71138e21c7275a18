"""What a training gets of a set of pairs, for operations; use cases take it from `service/learning/set_inputs.py`."""

from argot.service.learning.set_inputs import TrainingInputs, training_inputs

__all__ = ["TrainingInputs", "training_inputs"]

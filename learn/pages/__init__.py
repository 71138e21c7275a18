"""The workbench: pages of pairs, trainings and models."""

"""The papers' tables as named experiments: their rows, their columns, and the papers' figures beside Argot's."""

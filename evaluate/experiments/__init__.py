"""The papers' tables as named experiments: their rows, their columns, and what they report, beside what we measure."""

"""A turn as people see it: its result, its fixed texts, and the drawing of the journey."""

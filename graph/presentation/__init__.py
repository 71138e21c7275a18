"""A turn as people see it: its result, made from the ids in its state, and its fixed texts."""

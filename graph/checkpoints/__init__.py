"""Storage of a thread's state between its turns."""

"""What is kept of a thread between its turns."""

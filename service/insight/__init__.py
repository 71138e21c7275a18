"""What is asked and how it went, from what is stored."""

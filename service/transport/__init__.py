"""Ways for another process of this machine to reach an open knowledge base."""

"""How another process of this machine reaches an open knowledge base."""

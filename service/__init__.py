"""The use cases, each given a principal, and the owner of the stores."""

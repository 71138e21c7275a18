"""The reader: the network of the token vectors, its training on one's own documents, and its export."""

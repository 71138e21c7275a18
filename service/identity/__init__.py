"""People: their names, proofs of who they are, and rights."""

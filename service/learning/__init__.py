"""What learning needs of a knowledge base: who may see a set of pairs, and what a training of it gets."""

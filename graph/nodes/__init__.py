"""Nodes of the graph, one per module, named as in the design and in reading order."""

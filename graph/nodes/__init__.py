"""One node a module, named as in the design, in reading order."""

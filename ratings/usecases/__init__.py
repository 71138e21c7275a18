"""The use cases of rating studies."""

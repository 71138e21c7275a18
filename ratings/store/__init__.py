"""The store of rating studies."""

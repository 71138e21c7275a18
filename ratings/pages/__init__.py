"""The pages of rating studies."""

"""What every surface may ask for: one function a use case, grouped by subject."""

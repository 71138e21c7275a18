"""Studies in which people rate answers or passages blindly: a wing of Argot."""

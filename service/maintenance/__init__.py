"""Looking after a knowledge base: backups, checks of the installation, the last step of deletions."""

"""Parse, check, compile and cache the instructions files and their catalogues."""

"""Compute and phrase what the Textual app and the published web pages show alike."""

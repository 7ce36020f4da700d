"""Compute and phrase what both the Textual app and the published web pages show."""

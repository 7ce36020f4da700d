"""Serve the recorded prompts with Datasette for ``enricher publish``: start, check requests, announce, shut down."""

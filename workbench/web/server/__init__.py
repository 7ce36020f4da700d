"""The server process of ``enricher publish``: serve the history, check requests, announce the address, shut down."""

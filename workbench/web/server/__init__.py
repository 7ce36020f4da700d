"""Run the Datasette server of ``enricher publish``: start it, protect and announce it, and shut it down."""

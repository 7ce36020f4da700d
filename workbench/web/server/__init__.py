"""The process of ``enricher publish``: what it serves, to whom, and how it is found and ended."""

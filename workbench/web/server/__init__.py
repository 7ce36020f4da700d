"""The process that ``enricher publish`` is: what it serves and to whom, and how it is found and ended."""

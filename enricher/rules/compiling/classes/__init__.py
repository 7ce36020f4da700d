"""Classes and their signals: what may be written, and the table that a prompt is classified with."""

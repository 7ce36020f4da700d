"""Find the part of an edit, or the version, that changed the outcome of a prompt."""

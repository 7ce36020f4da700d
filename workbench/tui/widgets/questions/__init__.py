"""Questions that a person answers with a key or a click."""

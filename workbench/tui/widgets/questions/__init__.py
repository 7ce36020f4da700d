"""Questions that the user answers with a key or a click."""

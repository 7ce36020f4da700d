"""The queries that the published pages run on the history."""

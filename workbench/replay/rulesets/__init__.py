"""Rules that a replay compares: stored versions, files, unsaved text, git revisions, layers."""

"""The rules that a replay compares: stored versions, files, unsaved text, git revisions, layers."""

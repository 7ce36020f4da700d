"""Load the sets of rules that a replay compares, from stored versions, files, unsaved texts or git revisions."""

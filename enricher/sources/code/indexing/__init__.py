"""Build the index of a project's files and keep it fresh. Not on the hook's path."""

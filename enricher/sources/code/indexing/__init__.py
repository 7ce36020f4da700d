"""Build the index of a project's files and keep it fresh, in the background and not in the hook."""

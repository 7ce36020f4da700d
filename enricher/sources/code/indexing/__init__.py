"""Build the index of a project's files and keep it up to date. Does not run in the hook."""

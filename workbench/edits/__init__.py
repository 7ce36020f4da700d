"""One edit of the instructions: the file, its drafts, and live what it would change."""

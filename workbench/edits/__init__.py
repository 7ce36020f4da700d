"""One edit of the instructions: the file, its drafts, and a live preview of what the edit changes."""

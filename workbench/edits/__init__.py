"""Edit an instructions file: read and save it, keep drafts, undo saves, and preview what an edit changes."""

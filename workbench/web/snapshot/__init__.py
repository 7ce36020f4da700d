"""Write snapshots of the recorded prompts: files that may be shown to others, with texts anonymised or left out."""

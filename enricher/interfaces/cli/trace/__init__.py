"""Commands that show, export and delete recorded prompts (traces)."""

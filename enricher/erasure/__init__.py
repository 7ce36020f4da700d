"""Delete prompts and memories everywhere the product has stored them; search stored data for secrets again."""

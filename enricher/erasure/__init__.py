"""Delete prompts and memories wherever the product has stored them, and search stored data again for secrets."""

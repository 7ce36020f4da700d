"""Forget prompts and memories everywhere the product has stored them; rescreen stored data for secrets."""

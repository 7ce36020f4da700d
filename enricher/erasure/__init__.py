"""Forget prompts and memories everywhere the product has written them, and screen again what is stored."""

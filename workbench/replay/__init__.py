"""Replay recorded prompts under other rules and report which outcomes differ."""

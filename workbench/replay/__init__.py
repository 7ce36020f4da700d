"""Replay recorded prompts: judge them again under other rules, and report which outcomes differ."""

"""Propose changes to the instructions from labelled prompts: small single edits, or fitted weights and thresholds."""

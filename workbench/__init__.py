"""Replay, accuracy and tuning: what a change of the instructions would do to prompts that were really seen."""

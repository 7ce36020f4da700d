"""Propose changes to the instructions: single steps from labels, fitted weights, thresholds."""

"""Propose changes of the instructions: single steps from labels, fitted weights, thresholds."""

"""Estimate the effort that a prompt asks for, and find the parts into which it can be split (seed 002, phase 4)."""

"""Benchmarks of the terminal app and of the replay."""

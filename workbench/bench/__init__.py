"""Measure the app and the replay."""

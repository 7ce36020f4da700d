"""The hook and its pipeline: everything between a typed prompt and the agent that reads it."""

__version__ = "0.1.0"

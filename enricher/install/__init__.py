"""Putting the hook into the agent clients and keeping it there: never on a prompt's way."""

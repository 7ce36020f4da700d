"""Memories of projects, and the search for the few that a text is about."""

"""Memories of projects, and the search for those that concern a text."""

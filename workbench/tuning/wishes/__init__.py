"""Edits that make one recorded prompt come out as wished."""

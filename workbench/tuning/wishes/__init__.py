"""Edits that make one recorded prompt come out as wished, and floors that take out lines called wrong."""

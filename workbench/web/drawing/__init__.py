"""Charts without scripts; pure, each with the table of its data."""

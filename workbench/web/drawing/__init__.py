"""Charts without scripts; pure, and each has the table that it was drawn from."""

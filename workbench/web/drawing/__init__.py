"""Charts that need no JavaScript, each with a table of its data; pure functions."""

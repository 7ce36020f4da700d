"""Find what a prompt names and requests, in nine languages."""

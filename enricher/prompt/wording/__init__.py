"""Find what a prompt names (files, identifiers, times) and what it asks for, in nine languages."""

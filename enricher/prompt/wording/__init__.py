"""What the words of a prompt name and ask for, in nine languages."""

"""Find the names and requests in the words of a prompt, in nine languages."""

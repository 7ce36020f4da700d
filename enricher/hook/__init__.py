"""The process that a client starts for a prompt, and what it tells the person."""

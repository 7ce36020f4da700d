"""Compile the instructions files into the single JSON object that the hook reads; the hook never imports this."""

"""The process that a client starts for each prompt, and the notices that it shows to the user."""

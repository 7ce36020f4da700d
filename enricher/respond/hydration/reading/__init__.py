"""Read the requests of a prompt: what its author orders, wishes, asks or states, in the author's words."""

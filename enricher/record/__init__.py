"""After a prompt has been answered, write its trace, send events, and start background updates."""

"""Work that follows the answer to a prompt: write its trace, send events, start background updates."""

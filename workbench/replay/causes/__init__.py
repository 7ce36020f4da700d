"""Which part of an edit, or which version, made a prompt come out differently."""

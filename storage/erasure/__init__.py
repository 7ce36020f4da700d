"""Delete recorded prompts permanently wherever they were written: database rows, copies, snapshots, other files."""

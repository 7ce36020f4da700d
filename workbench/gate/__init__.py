"""Labels and golden cases, and whether a change of the instructions may go in."""

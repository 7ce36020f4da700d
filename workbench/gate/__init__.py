"""Labels and golden cases, and the gate that decides whether a change to the instructions may be merged."""

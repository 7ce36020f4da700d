"""Compile the files that people write into the one JSON body that the hook reads; the hook itself does not."""

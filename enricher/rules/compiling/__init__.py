"""Compile the files that people write into the one JSON body that the hook reads. Not on the hook's path."""

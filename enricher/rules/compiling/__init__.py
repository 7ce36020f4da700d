"""Read what people write and turn it into the one body that the hook reads. Not on the hook's path."""

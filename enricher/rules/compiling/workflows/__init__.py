"""Read the workflow catalogue, and link it into the compiled rules."""

"""Store memories, which are notes about a project such as its decisions, and find those that concern a text."""

"""What the app and the published pages show alike, worded and computed once."""

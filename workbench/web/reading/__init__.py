"""What pages read of the history."""

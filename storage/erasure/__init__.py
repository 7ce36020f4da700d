"""Delete for good, wherever the product has written: rows, copies, snapshots, leftovers."""

"""What the threads and processes of the app do."""

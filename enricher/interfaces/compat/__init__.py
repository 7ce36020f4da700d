"""Python APIs with the names that the specifications (the seeds) require, such as ``detect`` for the search intent."""

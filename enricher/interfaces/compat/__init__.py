"""Python APIs under the names that the specifications (the seeds) require, such as ``intent.detect``."""

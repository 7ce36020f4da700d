"""The workbench's part of ``enricher trace``."""

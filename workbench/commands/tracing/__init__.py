"""The commands of ``enricher trace`` that are part of the workbench."""

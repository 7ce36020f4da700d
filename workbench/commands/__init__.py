"""The workbench's commands, one module each; ``enricher`` finds them through its entry points."""

"""The instructions file and its catalogues: parse, lint, compile, cache."""

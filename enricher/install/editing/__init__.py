"""Edit clients' JSON and TOML files as text, so that everything else stays unchanged, byte for byte."""

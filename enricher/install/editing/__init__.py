"""Change clients' JSON and TOML as text: whatever nobody asked to change stays byte for byte."""

"""The places to which pasted output leads: stack frames, rules of linters, and texts that a program prints."""

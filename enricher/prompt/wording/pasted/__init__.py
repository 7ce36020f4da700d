"""What is read in pasted text: messages of errors, reports of linters, and other lines that a program has printed."""

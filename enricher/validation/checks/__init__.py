"""The checks of Python code: each module finds one kind of defect."""

"""The interfaces other than the hook: the Python API, the command line, the Model Context Protocol."""

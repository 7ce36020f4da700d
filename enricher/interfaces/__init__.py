"""Use the enricher without its hook: from Python, on the command line, or over the Model Context Protocol (MCP)."""

"""The MCP server: memory, topics and explanations for a client of the Model Context Protocol.

All content comes from ``enricher.interfaces.library.resources``, ``enricher.interfaces.library.prompts``
and ``enricher.interfaces.mcp.tools``; only ``server`` and ``serving`` import the protocol's SDK, an optional
dependency whose import takes longer than the hook may take for a prompt.
"""

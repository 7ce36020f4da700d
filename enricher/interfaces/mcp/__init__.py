"""The MCP server, which offers memories, topics and explanations to clients of the Model Context Protocol.

All content comes from ``enricher.interfaces.library`` and ``enricher.interfaces.mcp.tools``; only ``server`` imports
the protocol's SDK, an optional dependency whose import takes longer than the hook may take for a prompt.
"""

"""The second door: memory, topics and explanations for a client of the Model Context Protocol.

Everything it hands out is made by ``enricher.interfaces.library.resources``, ``enricher.interfaces.library.prompts``
and ``enricher.interfaces.mcp.tools``; only ``server`` and ``serving`` load the protocol's SDK, an optional
dependency that takes longer to import than a prompt may last.
"""

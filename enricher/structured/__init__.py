"""Write prompts to a language model and read its answers; both consist of JSON data and text.

A prompt is a ``<METADATA>`` block with a JSON object and an ``<INSTRUCTION>`` block with text; an answer is a
``<METADATA>`` block and a ``<CONTENT>`` block. A schema says what an answer's JSON must contain.
"""

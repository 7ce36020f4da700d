"""Prompts to a model and its answers, each in two parts: data as JSON, and text in words (seed 002).

A prompt is a ``<METADATA>`` block with a JSON object and an ``<INSTRUCTION>`` block with text; an answer is a
``<METADATA>`` block and a ``<CONTENT>`` block. What is to be in an answer's JSON is a schema.
"""

"""A language model's second opinion on a prompt, where a user has configured an endpoint (docs/model.md).

Without ``model.url`` nothing of this package is loaded. Nothing here may delay or fail a prompt: the model is queried
in a process of its own while the channels work, and its answer counts if it arrives in time.
"""

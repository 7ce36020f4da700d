"""Query the language models that a user has configured, for example for a second opinion on a prompt (docs/model.md).

The hook loads this package only if the user has configured a model's endpoint. A call that the hook makes can neither
delay a prompt beyond the hook's time limit nor make it fail: it runs in a separate process, and its answer is used only
if it arrives in time.
"""

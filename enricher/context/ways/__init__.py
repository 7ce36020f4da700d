"""What a project says on how something is done: its ways of an action, its runs and tests by name, and its versions.

The channels of ``ways`` and ``tests`` load these modules only for prompts that ask for such a thing.
"""

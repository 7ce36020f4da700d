"""What a project says on how something is done: its ways of an action, the runs and tests it names, the versions it sets.

The channels of ``ways`` and ``tests`` load these modules only for prompts that ask for such a thing.
"""

"""Write a plan for one prompt (seed 003): intent, workflow, guardrails, context, steps with checkpoints.

Loaded only if a plan is wanted: by the setting ``mode`` or by ``--format hydration``. Nothing here decides which
workflow fits; that is part of every decision (``enricher.respond.guidance.choose_workflow``).
"""

PLACEHOLDERS = (
    "request", "order", "object", "file", "files", "place", "symbol", "error", "failing", "tests", "test_command",
    "all_tests", "lint_command", "build_command", "commit_way", "item", "items", "others", "tracker",
    "new_tests", "old_names", "statement", "fix",
)  # fmt: skip
"""What a step of a workflow may name in braces; a wording whose placeholders are not all known is not used.

``request`` is what is to be done, ``order`` the same if the prompt says it as an order, ``object`` what it is about,
``file`` and ``files`` are existing files that the prompt names, ``place`` is file and line of the pasted trace or of
the named symbol, ``failing`` a command that the prompt names, ``tests`` the tests of the named code and
``test_command`` what runs only them. ``item`` is one of several requests: a step with it is repeated for each.
``items`` are words for all of them, ``others`` for the other places of a prompt with a single request. ``fix`` is known
where more is wanted than the cause of a failure.
"""

"""Write the plan for a prompt that the specification (seed 003) asks for: intent, workflow, guardrails, context, steps.

Loaded only if the setting ``mode`` or ``--format hydration`` asks for a plan. The workflow is chosen elsewhere, for
every prompt (``enricher.respond.guidance.choose_workflow``).
"""

PLACEHOLDERS = (
    "request", "order", "object", "file", "files", "place", "symbol", "error", "failing", "tests", "test_command",
    "all_tests", "lint_command", "build_command", "commit_way", "item", "items", "others", "tracker",
    "new_tests", "old_names", "statement", "fault", "review", "fix", "assumption",
)  # fmt: skip
"""Placeholders in the step templates of a workflow; a template is used only if all of its placeholders are known.

``request`` is the task, ``order`` the same if the prompt states it in the imperative, ``object`` what it is about.
``file`` and ``files`` are the existing files that the prompt names, ``place`` is the file and line of the pasted trace
or of the named symbol, ``failing`` is a command that the prompt names, ``tests`` are the tests of the named code, and
``test_command`` runs only these tests. ``item`` is one of several requests: a step with it is repeated for each.
``items`` are all of the requests together, ``others`` other places like the one in a single request. ``statement`` is a
main request that only states a fact, ``fault`` one that reports a failure, and ``review`` the subject of a review.
``fix`` is known if the prompt asks for more than the cause of a failure, and ``assumption`` ("how the prompt is
understood") if no workflow was certain.
"""

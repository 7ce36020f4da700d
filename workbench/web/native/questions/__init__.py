"""Operators' questions to the history: Datasette's canned queries, answered from the sums where possible."""

from __future__ import annotations

from workbench.web.native.questions.health import HEALTH
from workbench.web.native.questions.judgement import JUDGEMENT
from workbench.web.native.questions.question import Question
from workbench.web.native.questions.rules import RULES

QUESTIONS = (*HEALTH, *JUDGEMENT, *RULES)

__all__ = ["QUESTIONS", "Question"]

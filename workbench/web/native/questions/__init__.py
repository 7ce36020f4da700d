"""What operators ask of the history: the canned queries of Datasette, answered from the sums where they can be."""

from __future__ import annotations

from workbench.web.native.questions.health import HEALTH
from workbench.web.native.questions.judgement import JUDGEMENT
from workbench.web.native.questions.question import Question
from workbench.web.native.questions.rules import RULES

QUESTIONS = (*HEALTH, *JUDGEMENT, *RULES)

__all__ = ["QUESTIONS", "Question"]

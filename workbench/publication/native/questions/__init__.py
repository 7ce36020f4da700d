"""What operators ask of the history: the canned queries of Datasette, answered from the sums where they can be."""

from __future__ import annotations

from workbench.publication.native.questions.health import HEALTH
from workbench.publication.native.questions.judgement import JUDGEMENT
from workbench.publication.native.questions.question import Question
from workbench.publication.native.questions.rules import RULES

QUESTIONS = (*HEALTH, *JUDGEMENT, *RULES)

__all__ = ["QUESTIONS", "Question"]

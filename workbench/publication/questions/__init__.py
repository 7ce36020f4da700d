"""What operators ask of the history: the canned queries of Datasette, answered from the sums where they can be."""

from __future__ import annotations

from workbench.publication.questions.health import HEALTH
from workbench.publication.questions.judgement import JUDGEMENT
from workbench.publication.questions.question import Question
from workbench.publication.questions.rules import RULES

QUESTIONS = (*HEALTH, *JUDGEMENT, *RULES)

__all__ = ["QUESTIONS", "Question"]

"""Where the labelled prompts of the accuracy figures come from."""

from __future__ import annotations

from pathlib import Path

INVENTED = Path(__file__).with_name("invented_prompts.jsonl")
SET_APART = (
    "FSM1/cipher-box",
    "Firedogs2x/Houdoku-2",
    "PackmindHub/context-evaluator",
    "destyler/destyler",
    "hpm27/agente-bsc-rag",
    "kiliman/claude-transcript",
    "tonyandrewmeyer/beszel-k8s-operator",
)
"""Repositories that nothing is chosen by: they are judged, and no weight, word or threshold has seen them."""

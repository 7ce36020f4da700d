"""Questions on versions of the instructions, replays of other versions, and rules that do nothing."""

from __future__ import annotations

from workbench.web.native.questions.question import AT_MOST, LIMIT, Question, percent

_MEASURED_LAST = "(select rules_hash from coverage_measured order by at desc limit 1)"
_VERSION = {"rules_hash": "the version, whole; the one measured last where nothing is typed"}
_OF_THE_VERSION = f"rule_coverage.rules_hash = coalesce(nullif(:rules_hash, ''), {_MEASURED_LAST})"

RULES = (
    Question(
        "which_versions_are_in_use",
        "Which versions of the instructions judged how many prompts",
        "All prompts by version, imported ones too, with the share of those not skipped for which there was something"
        " to add, in percent.",
        f"""
select rules_hash, first_seen_at, sum(prompts) as prompts,
       {
            percent(
                "coalesce(sum(prompts) filter (where status in ('ok', 'partial', 'shadow')), 0)",
                "sum(prompts) filter (where status <> 'skipped')",
            )
        }
       as shown_percent
from prompts_by_class left join instructions_versions on instructions_versions.hash = rules_hash
where origin <> 'test' and rules_hash <> '' group by rules_hash order by first_seen_at desc, rules_hash
""",
        {},
    ),
    Question(
        "which_replays_were_kept",
        "Which replays were kept",
        "What other instructions would have said: verdict and number of changed prompts, newest first.",
        f"""
select id as replay_id, at, base, candidate, verdict, prompts, changed, {percent("changed", "prompts")}
       as changed_percent
from replays order by id desc limit {AT_MOST}
""",
        LIMIT,
    ),
    Question(
        "what_did_a_replay_change",
        "What a replay changed, and which line did it",
        "The changed prompts of one kept replay by cause, the most frequent first; with the newest of them.",
        """
select cause, count(*) as prompts, max(trace_id) as trace_id from replay_results
where replay_id = coalesce(nullif(:replay_id, ''), (select max(id) from replays))
group by cause order by prompts desc, cause
""",
        {"replay_id": "the replay, whole; the newest where nothing is typed"},
    ),
    Question(
        "which_rules_are_dead",
        "Which rules never speak",
        "Rules that spoke in none of the prompts on which the coverage of the version was measured.",
        f"""
select kind, name, label, weight, file, line, coverage_measured.prompts, coverage_measured.at
from rule_coverage join coverage_measured using (rules_hash)
where fired = 0 and {_OF_THE_VERSION} order by position
""",
        _VERSION,
    ),
    Question(
        "which_rules_speak_most",
        "How often each rule speaks, and how often labels bear it out",
        "Percent of the prompts on which the coverage of the version was measured; right and wrong count labelled"
        " prompts.",
        f"""
select kind, name, label, weight, fired, {percent("fired", "coverage_measured.prompts")} as fired_percent,
       rule_coverage.right, wrong, tokens, file, line
from rule_coverage join coverage_measured using (rules_hash)
where {_OF_THE_VERSION} order by fired desc, position
""",
        _VERSION,
    ),
)

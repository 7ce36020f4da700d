"""Questions on how prompts were classified, what was added, how users labelled that, and on finding prompts."""

from __future__ import annotations

from workbench.web.native.questions.question import (
    AT_MOST,
    DAYS,
    LIMIT,
    SINCE,
    SINCE_ID,
    Question,
    percent,
)

_WITHOUT_TESTS = "origin in ('hook', 'import')"
_OF_NO_TEST = "(select origin from traces where traces.id = what_people_said.id) <> 'test'"

JUDGEMENT = (
    Question(
        "which_task_types_are_there",
        "Which task types there are, and how often nothing is added to each",
        "All prompts that have a task type, imported ones too; shares in percent of them, and of each type.",
        f"""
with judged as (
    select task_type, sum(prompts) as prompts, sum(prompts) filter (where status = 'silent') as silent
    from prompts_by_class where {_WITHOUT_TESTS} and task_type <> '' group by task_type
)
select task_type, prompts, {percent("prompts", "(select sum(prompts) from judged)")} as percent,
       {percent("coalesce(silent, 0)", "prompts")} as silent_percent
from judged order by prompts desc, task_type
""",
        {},
    ),
    Question(
        "which_task_types_by_day",
        "Task types by day",
        "Prompts and added tokens (estimated) by UTC day and task type, newest first; imported ones too.",
        f"""
select day, value as task_type, sum(prompts) as prompts, sum(tokens) as tokens from prompts_by_day
where facet = 'task_type' and {_WITHOUT_TESTS} and day >= {SINCE}
group by day, value order by day desc, prompts desc
""",
        DAYS,
    ),
    Question(
        "which_search_intents_are_there",
        "Which search intents there are",
        "All prompts that have a search intent, imported ones too; percent of them.",
        f"""
with judged as (
    select search_intent, sum(prompts) as prompts from prompts_by_class
    where {_WITHOUT_TESTS} and search_intent <> '' group by search_intent
)
select search_intent, prompts, {percent("prompts", "(select sum(prompts) from judged)")} as percent
from judged order by prompts desc, search_intent
""",
        {},
    ),
    Question(
        "which_guardrails_by_day",
        "Guardrails by day",
        "Prompts to which each guardrail was added, by UTC day, newest first; imported ones too.",
        f"""
select day, value as guardrail_id, sum(prompts) as prompts from prompts_by_day
where facet = 'guardrail' and {_WITHOUT_TESTS} and day >= {SINCE}
group by day, value order by day desc, prompts desc
""",
        DAYS,
    ),
    Question(
        "which_guardrails_are_added_most",
        "Which guardrails are added most",
        "Prompts of the last days to which each guardrail was added, imported ones too; percent of all that were not"
        " skipped.",
        f"""
with looked_at as (
    select sum(prompts) as prompts from prompts_by_day
    where facet = 'status' and value <> 'skipped' and {_WITHOUT_TESTS} and day >= {SINCE}
)
select value as guardrail_id, sum(prompts) as prompts,
       {percent("sum(prompts)", "(select prompts from looked_at)")} as percent
from prompts_by_day where facet = 'guardrail' and {_WITHOUT_TESTS} and day >= {SINCE}
group by value order by prompts desc, value
""",
        DAYS,
    ),
    Question(
        "how_often_is_it_silent_by_day",
        "How often nothing is added, by day",
        "Silent prompts by UTC day, in percent of those that were not skipped; imported ones too.",
        f"""
select day, sum(prompts) as prompts, coalesce(sum(prompts) filter (where value = 'silent'), 0) as silent,
       {percent("coalesce(sum(prompts) filter (where value = 'silent'), 0)", "sum(prompts)")} as silent_percent
from prompts_by_day where facet = 'status' and value <> 'skipped' and {_WITHOUT_TESTS} and day >= {SINCE}
group by day order by day desc
""",
        DAYS,
    ),
    Question(
        "how_often_is_the_class_right",
        "How often labels say that the class is right, by class",
        "Labelled prompts by the class that they got. Wrong are those that a person called wrong or gave another class"
        " to; percent of the labelled ones.",
        f"""
with said as (
    select task_type, verdict = 'ok' or verdict = 'class' and labelled_task_type = task_type as is_right
    from what_people_said where {_OF_NO_TEST}
)
select task_type, count(*) as labelled, sum(is_right) as right, count(*) - sum(is_right) as wrong,
       {percent("sum(is_right)", "count(*)")} as right_percent
from said group by task_type order by labelled desc, task_type
""",
        {},
    ),
    Question(
        "which_classes_are_confused",
        "Which class was taken for which",
        "Prompts that a person gave another class to: what they are, and what they were taken for.",
        f"""
select labelled_task_type, task_type, count(*) as prompts, max(id) as trace_id
from what_people_said
where verdict = 'class' and labelled_task_type <> task_type and {_OF_NO_TEST}
group by labelled_task_type, task_type order by prompts desc, labelled_task_type, task_type
""",
        {},
    ),
    Question(
        "which_prompts_were_called_wrong",
        "Which prompts were called wrong",
        "The newest labels that say that the classification is wrong, with the class it should have been where said.",
        f"""
select labels.trace_id, labels.labelled_at, traces.task_type, nullif(labels.task_type, '') as labelled_task_type,
       traces.confidence, substr(traces.prompt, 1, 200) as prompt
from labels cross join traces on traces.id = labels.trace_id
where (labels.verdict = 'wrong' or labels.verdict = 'class' and labels.task_type <> traces.task_type)
  and traces.{_WITHOUT_TESTS}
  and labels.id = (select max(newer.id) from labels as newer where newer.trace_id = labels.trace_id)
order by labels.id desc limit {AT_MOST}
""",
        LIMIT,
    ),
    Question(
        "which_projects_get_nothing",
        "Prompts to which nothing is added, by project",
        "Prompts of the last days that were not skipped, imported ones too; percent of the project's for which there"
        " was nothing to add.",
        f"""
select project, count(*) as prompts, sum(output_tokens = 0) as without_addition,
       {percent("sum(output_tokens = 0)", "count(*)")} as without_addition_percent
from traces
where id >= {SINCE_ID} and status <> 'skipped' and {_WITHOUT_TESTS}
group by project order by without_addition desc, project
""",
        DAYS,
    ),
    Question(
        "which_prompts_got_most",
        "To which prompts most was added",
        "Length of the added text in tokens, estimated.",
        f"""
select id as trace_id, at, host, task_type, output_tokens, substr(prompt, 1, 200) as prompt
from traces where {_WITHOUT_TESTS} order by output_tokens desc limit {AT_MOST}
""",
        LIMIT,
    ),
    Question(
        "which_prompts_hold",
        "Which prompts hold these words",
        "Prompts that hold all the words, newest first. A snapshot without texts finds none.",
        f"""
select traces.id as trace_id, traces.at, traces.host, traces.status, traces.task_type,
       substr(traces.prompt, 1, 200) as prompt
from prompts_fts
     cross join trace_numbers on trace_numbers.number = prompts_fts.rowid
     cross join traces on traces.id = trace_numbers.trace_id
where prompts_fts match searched(:words) and traces.{_WITHOUT_TESTS}
order by prompts_fts.rowid desc limit {AT_MOST}
""",
        {"words": "whole words; word* for the beginning of one, double quotes around a phrase", **LIMIT},
    ),
    Question(
        "what_did_a_session_ask",
        "What was asked in a session",
        "The prompts of one session in their order, with what became of them.",
        f"""
select id as trace_id, at, status, task_type, output_tokens, latency_ms, substr(prompt, 1, 200) as prompt
from traces where session_id = :session_id and {_WITHOUT_TESTS} order by id limit 1000
""",
        {"session_id": "the session, whole"},
    ),
)

"""Questions on the state of the hook: counts and shares by day, failures, skips, latencies, channels.

Imported prompts were not answered by the hook: they count as prompts, never for its health.
"""

from __future__ import annotations

from workbench.web.native.questions.question import (
    AT_MOST,
    DAYS,
    LIMIT,
    NEWEST,
    SINCE,
    SINCE_ID,
    THE_NEWEST,
    Question,
    percent,
)

_BY_DAY = f"""
    from prompts_by_day where facet = 'status' and origin = 'hook' and day >= {SINCE}
    group by day order by day desc
"""
_PERCENTILES = """
ranked as (
    select {by}, bucket, measurements,
           sum(measurements) over (partition by {by} order by bucket) as up_to,
           sum(measurements) over (partition by {by}) as all_of_them
    from counted
)
select {by}, max(all_of_them) as measurements,
       round(middle_ms(min(case when up_to * 100 >= all_of_them * 50 then bucket end)), 1) as p50_ms,
       round(middle_ms(min(case when up_to * 100 >= all_of_them * 95 then bucket end)), 1) as p95_ms,
       round(middle_ms(min(case when up_to * 100 >= all_of_them * 99 then bucket end)), 1) as p99_ms
from ranked
"""
_SHOWN = "sum(iif(status in ('ok', 'partial', 'shadow'), prompts, 0))"
"""SQL: number of prompts with a text; status ``shadow`` is a text that was not sent, or an imported prompt."""
_APPROXIMATE = "Percentiles are read from buckets and at most 2.5 % off; skipped and imported prompts are left out."

HEALTH = (
    Question(
        "how_many_prompts_by_day",
        "How many prompts a day, and what became of them",
        "Prompts and added tokens (estimated) by UTC day, newest first; without imported prompts.",
        f"""
select day, sum(prompts) as prompts,
       coalesce(sum(prompts) filter (where value in ('ok', 'partial')), 0) as shown,
       coalesce(sum(prompts) filter (where value = 'silent'), 0) as silent,
       coalesce(sum(prompts) filter (where value = 'skipped'), 0) as skipped,
       coalesce(sum(prompts) filter (where value = 'partial'), 0) as partial,
       coalesce(sum(prompts) filter (where value = 'error'), 0) as failed,
       sum(tokens) as tokens
{_BY_DAY}""",
        DAYS,
    ),
    Question(
        "how_many_were_judged_and_failed_by_day",
        "Share of prompts that were judged, share that failed, rate of fallbacks, by day",
        "A prompt is judged where its classification was read and answered without an error; skipped prompts are left"
        " out. A fallback is an answer for which a program said that it fell back to something simpler. Shares in"
        " percent, tokens estimated.",
        f"""
with judged as (
    select day, coalesce(sum(prompts) filter (where value <> 'skipped'), 0) as prompts,
           coalesce(sum(prompts) filter (where value = 'error'), 0) as failed, sum(tokens) as tokens
    {_BY_DAY}
), answered as (
    select day_of(trace_id) as day, count(*) as answers, sum(fallback <> '') as fallbacks from trace_channels
    where trace_id >= {SINCE_ID} and (model <> '' or fallback <> '')
      and (select origin from traces where traces.id = trace_id) = 'hook'
    group by 1
)
select day, prompts, tokens, {percent("(prompts - failed)", "prompts")} as judged_percent,
       {percent("failed", "prompts")} as failed_percent, coalesce(answers, 0) as answers_of_programs,
       coalesce(fallbacks, 0) as fallbacks, {percent("fallbacks", "answers")} as fallback_percent
from judged left join answered using (day) order by day desc
""",
        DAYS,
    ),
    Question(
        "how_long_does_it_take_by_day",
        "How long the hook, or a stage or channel of it, takes by day",
        f"Median, 95th and 99th percentile in milliseconds by UTC day, newest first. {_APPROXIMATE}",
        f"""
with counted as (
    select day, kind, bucket, sum(measurements) as measurements from latencies_by_day
    where kind in ('total', 'stage', 'channel') and name = coalesce(nullif(:name, ''), 'total') and day >= {SINCE}
    group by day, kind, bucket
), {_PERCENTILES.format(by="day, kind")}
group by day, kind order by day desc, kind desc
""",
        {"name": "a stage or a channel; total, which is the whole, where nothing is typed", **DAYS},
    ),
    Question(
        "how_long_does_each_stage_take",
        "How long each stage and each channel takes",
        f"Median, 95th and 99th percentile in milliseconds over the whole history. {_APPROXIMATE}",
        f"""
with counted as (
    select kind, name, bucket, sum(measurements) as measurements,
           max(max(position)) over (partition by kind, name) as position
    from latencies_overall group by kind, name, bucket
), {_PERCENTILES.format(by="position, kind, name")}
group by position, kind, name order by position, p95_ms desc
""",
        {},
    ),
    Question(
        "how_long_does_each_version_take",
        "How long the hook takes, by version of the instructions",
        "Percentiles in milliseconds over the newest prompts, by nearest rank; skipped and imported prompts are"
        " left out.",
        f"""
with newest as (
    select rules_hash, latency_ms from traces
    where origin = 'hook' and status <> 'skipped' and rules_hash <> '' order by id desc limit {THE_NEWEST}
), counted as (
    select rules_hash, round(latency_ms, 1) as ms, count(*) as measurements from newest group by 1, 2
), ranked as (
    select rules_hash, ms, sum(measurements) over (partition by rules_hash order by ms) as up_to,
           sum(measurements) over (partition by rules_hash) as prompts
    from counted
)
select rules_hash, max(prompts) as prompts,
       min(case when up_to * 100 >= prompts * 50 then ms end) as p50_ms,
       min(case when up_to * 100 >= prompts * 95 then ms end) as p95_ms,
       min(case when up_to * 100 >= prompts * 99 then ms end) as p99_ms
from ranked group by rules_hash order by prompts desc
""",
        NEWEST,
    ),
    Question(
        "which_prompts_were_slowest",
        "Which prompts took longest",
        "The whole hook, in milliseconds; imported prompts and those of tests are left out.",
        f"""
select id as trace_id, at, host, status, task_type, latency_ms, substr(prompt, 1, 200) as prompt
from traces where origin = 'hook' order by latency_ms desc limit {AT_MOST}
""",
        LIMIT,
    ),
    Question(
        "which_prompts_failed_last",
        "Which prompts failed, and why",
        "Prompts for which the hook ended in an error and added nothing, newest first.",
        f"""
select id as trace_id, at, host, error, latency_ms, substr(prompt, 1, 200) as prompt
from traces where status = 'error' and origin = 'hook' order by id desc limit {AT_MOST}
""",
        LIMIT,
    ),
    Question(
        "why_did_prompts_fail",
        "How often each error happened",
        "All failures in the history by reason, the most frequent first.",
        """
select error, count(*) as prompts, min(at) as first_at, max(at) as last_at
from traces where status = 'error' and origin = 'hook' group by error order by prompts desc, error
""",
        {},
    ),
    Question(
        "why_were_prompts_skipped",
        "Why prompts were skipped",
        "Prompts of the last days that were not looked at, by reason; percent of the skipped ones.",
        f"""
with reasons as (
    select value as skip_reason, sum(prompts) as prompts from prompts_by_day
    where facet = 'skip_reason' and origin = 'hook' and day >= {SINCE} group by value
)
select skip_reason, prompts, {percent("prompts", "(select sum(prompts) from reasons)")} as percent
from reasons order by prompts desc, skip_reason
""",
        DAYS,
    ),
    Question(
        "how_do_the_channels_end",
        "How often each channel answered, found nothing, failed or ran out of time",
        "Prompts of the last days by channel and status; percent of the channel's. A channel that runs out of time"
        " makes the prompt partial.",
        f"""
with ended as (
    select substr(value, 1, instr(value, ' ') - 1) as channel, substr(value, instr(value, ' ') + 1) as status,
           sum(prompts) as prompts
    from prompts_by_day where facet = 'channel' and origin = 'hook' and day >= {SINCE} group by 1, 2
)
select channel, status, prompts, round(100.0 * prompts / sum(prompts) over (partition by channel), 1) as percent
from ended order by channel, prompts desc
""",
        DAYS,
    ),
    Question(
        "which_channels_made_prompts_partial",
        "Partial results by channel and day",
        "Prompts in which a channel ran out of time, by UTC day, newest first.",
        f"""
select day, substr(value, 1, instr(value, ' ') - 1) as channel, prompts from prompts_by_day
where facet = 'channel' and origin = 'hook' and value like '% timeout' and day >= {SINCE}
order by day desc, prompts desc
""",
        DAYS,
    ),
    Question(
        "what_does_each_channel_offer",
        "How much each channel offers, and how much of it is kept",
        "Items and tokens (estimated) over the newest prompts; percent of the offered items.",
        f"""
with newest as (select id from traces where origin = 'hook' order by id desc limit {THE_NEWEST})
select channel, count(*) as prompts, sum(offered) as offered, sum(kept) as kept, sum(tokens) as tokens,
       {percent("sum(kept)", "sum(offered)")} as kept_percent
from newest cross join trace_channels on trace_channels.trace_id = newest.id
group by channel order by kept desc, channel
""",
        NEWEST,
    ),
    Question(
        "which_clients_are_in_use",
        "Which agent clients are in use",
        "Prompts of the hook by client and how many were imported beside; for what share of all that were not skipped"
        " there was something to add, what share of the hook's failed, in percent, and the UTC day of the hook's last.",
        f"""
select host, sum(iif(origin = 'hook', prompts, 0)) as prompts, sum(iif(origin = 'import', prompts, 0)) as imported,
       {percent(_SHOWN, "sum(iif(status <> 'skipped', prompts, 0))")} as shown_percent,
       {percent("sum(iif(status = 'error', prompts, 0))", "sum(iif(origin = 'hook', prompts, 0))")} as failed_percent,
       (select max(day) from prompts_by_day
        where prompts_by_day.origin = 'hook' and facet = 'host' and value = host) as last_day
from prompts_by_class where origin in ('hook', 'import') group by host order by 2 desc, host
""",
        {},
    ),
)

-- The tables, views, indices and triggers of a new database. docs/history.md explains the columns that readers see.
--
-- «without rowid» stores the rows in the order of the key, so that those of a trace are read together.

-- ## Traces: one row per prompt, with its text, the result, and what the result depended on

create table traces (
    id text primary key not null,
    at text not null,
    host text not null,
    session_id text not null,
    project text not null,
    cwd text not null,
    prompt text not null,
    prompt_hmac text not null,
    prompt_chars integer not null check (prompt_chars >= 0),
    status text not null check (status in ('ok', 'silent', 'skipped', 'partial', 'error', 'shadow')),
    skip_reason text not null check (status <> 'skipped' or skip_reason <> ''),
    error text not null,
    task_type text not null,
    confidence real check (confidence between 0 and 1),
    uncertain integer not null check (uncertain in (0, 1)),
    search_intent text not null,
    intent_confidence real check (intent_confidence between 0 and 1),
    topics text not null check (json_valid(topics)),
    complexity text not null,
    workflow text not null,
    approach text not null,
    rules_hash text not null,
    inputs text not null check (json_valid(inputs)),
    output_text text not null,
    output_tokens integer not null check (output_tokens >= 0),
    scanned_chars integer not null check (scanned_chars >= 0),
    latency_ms real not null check (latency_ms >= 0),
    partial integer not null check (partial in (0, 1)),
    memory_context text not null default '{}' check (json_valid(memory_context)),
    origin text not null default 'hook' check (origin in ('hook', 'import', 'test'))
);
create index traces_of_a_session on traces (session_id, id);
create index traces_that_failed on traces (id) where status = 'error';
create index traces_by_latency on traces (latency_ms);
create index traces_by_tokens on traces (output_tokens);
create index traces_that_were_skipped on traces (skip_reason, host, at)
    where status = 'skipped' and origin = 'hook';
-- All columns for filtering and counting: a filter that matches nothing scans this index, a million rows in 0.13 s,
-- where the table takes seconds.
create index traces_in_brief on traces (
    id, origin, latency_ms, output_tokens, status, task_type, search_intent, host, project, rules_hash, workflow
);

-- How the hook decided: scores, stages, channels, the facts that channels offered, guardrails

create table trace_scores (
    trace_id text not null references traces (id) on delete cascade,
    facet text not null,
    name text not null,
    score real not null,
    evidence text not null check (json_valid(evidence)),
    primary key (trace_id, facet, name)
) without rowid;
create table trace_stages (
    trace_id text not null references traces (id) on delete cascade,
    position integer not null,
    stage text not null,
    latency_ms real not null check (latency_ms >= 0),
    primary key (trace_id, position)
) without rowid;
create table trace_channels (
    trace_id text not null references traces (id) on delete cascade,
    channel text not null,
    status text not null,
    latency_ms real not null check (latency_ms >= 0),
    offered integer not null check (offered >= 0),
    kept integer not null check (kept >= 0),
    tokens integer not null check (tokens >= 0),
    fallback text not null,
    model text not null,
    primary key (trace_id, channel)
) without rowid;
-- Successful calls are not indexed, so that an insert costs no more than without the index.
create index channels_that_failed on trace_channels (channel, status, trace_id)
    where status not in ('ok', 'empty');
create table trace_items (
    trace_id text not null references traces (id) on delete cascade,
    position integer not null,
    channel text not null,
    ref text not null,
    text text not null,
    why text not null,
    score real,
    kept integer not null check (kept in (0, 1)),
    primary key (trace_id, position)
) without rowid;
create table trace_guardrails (
    trace_id text not null references traces (id) on delete cascade,
    position integer not null,
    guardrail_id text not null,
    title text not null,
    score real,
    primary key (trace_id, position)
) without rowid;
create index traces_with_a_guardrail on trace_guardrails (guardrail_id collate nocase, trace_id);

-- Estimates of the effort of tasks, and reports on tasks that were done in parallel parts

create table complexity_estimates (
    trace_id text primary key not null references traces (id) on delete cascade,
    estimated_tokens integer not null check (estimated_tokens >= 0),
    estimated_loc integer not null check (estimated_loc >= 0),
    estimated_files integer not null check (estimated_files >= 0),
    estimated_duration_minutes integer not null check (estimated_duration_minutes >= 0),
    overall_complexity_score real not null check (overall_complexity_score between 0 and 100),
    heuristic_score real not null check (heuristic_score between 0 and 100),
    llm_adjusted_score real check (llm_adjusted_score between 0 and 100),
    category text not null,
    should_decompose integer not null check (should_decompose in (0, 1)),
    decomposition_reason text not null,
    estimation_factors text not null check (json_valid(estimation_factors)),
    confidence real not null check (confidence between 0 and 1),
    actual_tokens integer check (actual_tokens >= 0),
    actual_loc integer check (actual_loc >= 0),
    actual_files integer check (actual_files >= 0),
    actual_duration_minutes integer check (actual_duration_minutes >= 0),
    estimation_accuracy real check (estimation_accuracy between 0 and 1),
    created_at text not null,
    updated_at text not null
) without rowid;
create table parallel_attempts (
    trace_id text not null references traces (id) on delete cascade,
    position integer not null check (position >= 0),
    num_agents integer not null check (num_agents >= 2),
    agent_ids text not null check (json_valid(agent_ids)),
    subtask_ids text not null check (json_valid(subtask_ids)),
    success integer not null check (success in (0, 1)),
    failure_reason text not null,
    conflict_detected integer not null check (conflict_detected in (0, 1)),
    conflict_details text not null,
    total_duration_seconds real check (total_duration_seconds >= 0),
    sequential_estimate_seconds real check (sequential_estimate_seconds >= 0),
    speedup_factor real check (speedup_factor >= 0),
    max_concurrent_agents integer check (max_concurrent_agents >= 1),
    total_token_usage integer check (total_token_usage >= 0),
    failed_agent_count integer not null check (failed_agent_count between 0 and num_agents),
    parallelization_strategy text not null,
    fallback_to_sequential integer not null check (fallback_to_sequential in (0, 1)),
    execution_metadata text not null check (json_valid(execution_metadata)),
    started_at text not null,
    completed_at text not null,
    created_at text not null,
    primary key (trace_id, position)
) without rowid;

-- Places where code that an agent wrote after a prompt broke a rule

create table rule_violations (
    trace_id text not null references traces (id) on delete cascade,
    position integer not null,
    rule_id text not null check (rule_id <> ''),
    rule_name text not null,
    rule_domain text not null,
    severity text not null check (severity in ('critical', 'high', 'medium', 'low')),
    file text not null,
    line integer not null check (line >= 1),
    message text not null,
    suggestion text not null,
    guardrails text not null,
    resolved integer not null default 0 check (resolved in (0, 1)),
    resolution_notes text not null default '',
    created_at text not null,
    resolved_at text not null default '' check ((resolved_at <> '') = resolved),
    primary key (trace_id, position)
) without rowid;

-- Every version of the instructions that a trace refers to, and the files from which it was compiled, lowest layer first

create table instructions_versions (
    hash text primary key not null,
    text text not null,
    first_seen_at text not null
);
create table instructions_sources (
    hash text not null,
    position integer not null,
    layer text not null,
    path text not null,
    text text not null,
    primary key (hash, position)
) without rowid;

-- The texts, facts, guardrails and approaches (advice) added to each session, with their tokens

create table sessions (
    session_id text not null,
    trace_id text not null,
    kind text not null check (kind in ('text', 'guardrail', 'approach', 'item')),
    ref text not null,
    tokens integer not null check (tokens >= 0),
    primary key (session_id, trace_id, kind, ref)
) without rowid;

-- ## Labels that users give to traces, and to single lines of an added text; the newest of a trace or line counts

create table labels (
    id integer primary key,
    trace_id text not null references traces (id) on delete cascade,
    labelled_at text not null,
    verdict text not null check (verdict in ('ok', 'wrong', 'class')),
    task_type text not null check ((verdict = 'class') = (task_type <> ''))
);
create index labels_of_a_trace on labels (trace_id, id);
create table line_labels (
    id integer primary key,
    trace_id text not null references traces (id) on delete cascade,
    labelled_at text not null,
    verdict text not null check (verdict in ('ok', 'wrong')),
    line integer not null check (line >= 1),
    line_kind text not null check (line_kind <> ''),
    rule text not null,
    text_hash text not null,
    because text not null
);
create index line_labels_of_a_trace on line_labels (trace_id, line, id);

-- ## Memories: notes about projects, with a full-text index that triggers keep up to date

create table memories (
    number integer primary key,
    id text not null unique,
    namespace text not null,
    content text not null,
    tags text not null check (json_valid(tags)),
    project text not null,
    path_prefix text not null,
    source text not null,
    origin text not null,
    key text not null,
    created_at text not null,
    updated_at text not null,
    reviewed integer not null check (reviewed in (0, 1)),
    superseded_by text not null,
    words text not null,
    unique (project, origin, key)
);
create index memories_to_review on memories (project, number) where reviewed = 0;
create virtual table memories_fts using fts5 (
    content, tags, words, content = 'memories', content_rowid = 'number', tokenize = 'porter unicode61'
);
-- The words in memories, with the number of memories that contain each word
create virtual table memory_vocabulary using fts5vocab ('memories_fts', 'row');
create table memory_counts (
    project text primary key not null,
    memories integer not null
) without rowid;

create trigger memories_come after insert on memories begin
    insert into memories_fts (rowid, content, tags, words) values (new.number, new.content, new.tags, new.words);
    insert into memory_counts (project, memories) values (new.project, 1)
    on conflict (project) do update set memories = memories + 1;
end;
-- In an index without content of its own, only the command ``delete`` with the old texts removes the words of a row.
create trigger memories_go after delete on memories begin
    insert into memories_fts (memories_fts, rowid, content, tags, words)
    values ('delete', old.number, old.content, old.tags, old.words);
    update memory_counts set memories = memories - 1 where project = old.project;
end;
create trigger memories_change after update of content, tags, words on memories begin
    insert into memories_fts (memories_fts, rowid, content, tags, words)
    values ('delete', old.number, old.content, old.tags, old.words);
    insert into memories_fts (rowid, content, tags, words) values (new.number, new.content, new.tags, new.words);
end;
create trigger memories_move after update of project on memories begin
    update memory_counts set memories = memories - 1 where project = old.project;
    insert into memory_counts (project, memories) values (new.project, 1)
    on conflict (project) do update set memories = memories + 1;
end;

-- Embedding vectors (float32, little-endian) for users who run an embedding model: of memories, and of prompts and
-- pieces of code, these by a hash of the model and the text

create table memory_vectors (
    number integer primary key references memories (number) on delete cascade,
    model text not null,
    vector blob not null
);
create trigger memories_lose_their_vector after update of content on memories
when new.content <> old.content begin
    delete from memory_vectors where number = old.number;
end;
create table content_vectors (number integer primary key, hash text not null unique, vector blob);

-- ## Replays, which evaluate recorded prompts under other rules, and the outcomes that change

create table replays (
    id text primary key not null,
    at text not null,
    base text not null,
    base_hash text not null,
    candidate text not null,
    candidate_hash text not null,
    selection text not null,
    context text not null check (context in ('recorded', 'today')),
    diff text not null,
    verdict text not null check (verdict in ('identical', 'changed', 'regressed', 'inconclusive')),
    prompts integer not null check (prompts >= 0),
    changed integer not null check (changed >= 0),
    figures text not null check (json_valid(figures))
);
create table replay_results (
    replay_id text not null references replays (id) on delete cascade,
    trace_id text not null references traces (id) on delete cascade,
    kinds text not null check (json_valid(kinds)),
    cause text not null,
    before text not null check (json_valid(before)),
    after text not null check (json_valid(after)),
    primary key (replay_id, trace_id)
) without rowid;
create index replays_of_a_trace on replay_results (trace_id);

-- Experiments, which try two variants (arms) on the same prompts: one result per prompt and arm. ``prompt_id`` refers to
-- no table, because a prompt may come from a file.

create table experiments (
    id text primary key not null,
    at text not null,
    question text not null,
    arms text not null check (json_valid(arms)),
    report text not null check (json_valid(report)),
    plan text not null default '{}' check (json_valid(plan))
);
create table experiment_results (
    experiment_id text not null references experiments (id) on delete cascade,
    prompt_id text not null,
    arm text not null check (arm in ('a', 'b')),
    task_type text not null,
    tokens integer not null check (tokens >= 0),
    latency_ms real not null check (latency_ms >= 0),
    succeeded integer not null check (succeeded in (0, 1)),
    quality real check (quality between 0 and 1),
    violations integer check (violations >= 0),
    text text not null,
    prompt_tokens integer check (prompt_tokens >= 0),
    response_tokens integer check (response_tokens >= 0),
    usd real check (usd >= 0),
    fault text not null default '',
    primary key (experiment_id, prompt_id, arm)
) without rowid;

-- How often each rule applied

create table coverage_measured (
    rules_hash text primary key not null,
    at text not null,
    prompts integer not null check (prompts >= 0),
    judged_again integer not null check (judged_again >= 0),
    labelled integer not null check (labelled >= 0),
    unmatched integer not null check (unmatched >= 0),
    clusters text not null check (json_valid(clusters)),
    overlaps text not null check (json_valid(overlaps)),
    labels text not null check (json_valid(labels))
) without rowid;
create table rule_coverage (
    rules_hash text not null references coverage_measured (rules_hash) on delete cascade,
    position integer not null,
    kind text not null,
    rule text not null,
    facet text not null,
    name text not null,
    label text not null,
    weight integer not null,
    file text not null,
    line integer not null,
    fired integer not null check (fired >= 0),
    tokens integer not null check (tokens >= 0),
    right integer not null check (right >= 0),
    wrong integer not null check (wrong >= 0),
    examples text not null check (json_valid(examples)),
    prompts integer not null default 0 check (prompts >= fired),
    is_foreign integer not null default 0 check (is_foreign in (0, 1)),
    primary key (rules_hash, position)
) without rowid;

-- ## For readers: a full-text index of prompts; its row numbers are the prompts' times in microseconds, for sorting

create table trace_numbers (
    number integer primary key,
    trace_id text not null unique references traces (id) on delete cascade
);
create view which_prompts_are_searchable as
    select trace_numbers.number, traces.prompt from trace_numbers join traces on traces.id = trace_numbers.trace_id;
create virtual table prompts_fts using fts5 (
    prompt, content = 'which_prompts_are_searchable', content_rowid = 'number', tokenize = 'unicode61'
);

-- Sums over traces, so that pages need not read all of them

create table prompts_by_class (
    origin text not null,
    host text not null,
    status text not null,
    task_type text not null,
    search_intent text not null,
    workflow text not null,
    rules_hash text not null,
    prompts integer not null,
    primary key (origin, host, status, task_type, search_intent, workflow, rules_hash)
) without rowid;
create table prompts_by_day (
    origin text not null,
    facet text not null,
    day text not null,
    value text not null,
    prompts integer not null,
    tokens integer not null,
    primary key (origin, facet, day, value)
) without rowid;
create table latencies_by_day (
    kind text not null check (kind in ('total', 'stage', 'channel')),
    name text not null,
    day text not null,
    bucket integer not null,
    position integer not null,
    measurements integer not null,
    primary key (kind, name, day, bucket, position)
) without rowid;
create table latencies_overall (
    kind text not null check (kind in ('total', 'stage', 'channel')),
    name text not null,
    bucket integer not null,
    position integer not null,
    measurements integer not null,
    primary key (kind, name, bucket, position)
) without rowid;
create table rolled_up (
    up_to integer not null,
    trace_id text not null
);
insert into rolled_up (up_to, trace_id) values (0, '');  -- its only row

-- The most frequent questions about traces

create view why_prompts_were_skipped as
    select skip_reason, host, count(*) as prompts, max(at) as last_at
    from traces where status = 'skipped' and origin = 'hook' group by skip_reason, host;
create view which_prompts_failed as
    select id, at, host, session_id, error, prompt from traces where status = 'error';
-- The index ``traces_in_brief`` finds the last trace of a host among those of its last day.
create view when_each_host_was_last_seen as
    with counted as (
        select value as host, max(day) as day, sum(prompts) as prompts from prompts_by_day
        where origin = 'hook' and facet = 'host' group by value
        union all
        select host, substr(max(at), 1, 10), count(*) from traces
        where rowid > (select up_to from rolled_up) and origin = 'hook' group by host
    ), hosts as (
        select host, max(day) as day, sum(prompts) as prompts from counted group by host
    )
    select host, coalesce((
        select at from traces where id = (
            select max(id) from traces indexed by traces_in_brief
            where id < printf('%014x', strftime('%s', hosts.day, '+1 day') * 1000000)
              and id >= printf('%014x', strftime('%s', hosts.day) * 1000000)
              and origin = 'hook' and host = hosts.host
        )
    ), day) as last_at, prompts from hosts;
create view what_people_said as
    select traces.id, traces.at, labels.labelled_at, labels.verdict, labels.task_type as labelled_task_type,
           traces.task_type, traces.uncertain, traces.prompt
    from labels join traces on traces.id = labels.trace_id
    where labels.id = (select max(newer.id) from labels as newer where newer.trace_id = labels.trace_id);

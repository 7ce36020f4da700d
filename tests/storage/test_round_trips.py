"""Whatever a trace holds, the database gives the same back."""

from __future__ import annotations

import json
import tempfile
from contextlib import closing

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage import traces
from storage.db import database
from storage.traces import queries, spool

texts = st.text(st.characters(codec=None), max_size=60)  # lone surrogates and NUL among them
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    prompt=texts,
    session_id=texts,
    inputs=st.dictionaries(texts, values, max_size=3),
    topics=st.lists(texts, max_size=5),
)
def test_any_trace_comes_back_as_it_went_in(prompt, session_id, inputs, topics):
    with tempfile.TemporaryDirectory() as state:
        trace = traces.Trace()
        trace.prompt, trace.session_id, trace.inputs, trace.topics = prompt, session_id, inputs, topics
        assert spool.record(state, trace) == "spooled"
        with closing(database.connect(state)) as db:
            shown = queries.show(db, trace.id)

        assert shown["prompt"] == traces.storable(prompt)
        assert shown["session_id"] == traces.short(session_id)
        assert (shown["inputs"], shown["topics"]) == (inputs, topics)
        assert json.loads(json.dumps(shown)) == shown

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.projection import AGENT_KEYS, CUSTOMER_KEYS, for_agent, for_customer


@pytest.mark.parametrize("result", [{}, {"title": "T"}, dict.fromkeys(AGENT_KEYS, 1) | {"acl": ["a"], "_debug": "x"}])
def test_a_customer_sees_exactly_five_keys(result: dict[str, object]) -> None:
    assert set(for_customer(result)) == {"title", "snippet", "url", "locale", "localeFallback"}


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from([*AGENT_KEYS, "providerSecret", "total"]), st.integers()))
def test_no_projection_passes_on_what_it_does_not_know(result: dict[str, int]) -> None:
    assert tuple(for_customer(result)) == CUSTOMER_KEYS
    assert tuple(for_agent(result)) == AGENT_KEYS
    assert all(for_customer(result)[key] == result.get(key) for key in CUSTOMER_KEYS)

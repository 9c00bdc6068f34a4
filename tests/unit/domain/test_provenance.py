import pytest

from chalicelib.domain.provenance import STANDING, originate, standing


@pytest.mark.parametrize(
    ("source", "sensitivity", "trust"),
    [
        ("operator_correction", "internal", 95),
        ("ingested_document", "internal", 70),
        ("companion_note", "confidential", 60),
        ("workflow_output", "internal", 50),
        ("chat_turn", "internal", 50),
        ("consolidated", "internal", 50),
        ("external_fetch", "public", 30),
        ("unknown", "internal", 50),
    ],
)
def test_each_origin_has_its_tier_and_trust(source: str, sensitivity: str, trust: int) -> None:
    assert standing(source) == (sensitivity, trust)
    assert originate(source).trust == trust


@pytest.mark.parametrize("source", ["", "made_up", "External_Fetch"])
def test_an_origin_that_is_not_listed_is_unknown(source: str) -> None:
    assert standing(source) == STANDING["unknown"]
    assert originate(source).source == "unknown"


def test_an_origin_keeps_its_producer_and_address() -> None:
    origin = originate("external_fetch", producer="refresh", url="https://docs.example.com/")
    assert (origin.producer, origin.url, origin.trust) == ("refresh", "https://docs.example.com/", 30)

"""The environment is read once; every fault is told, and no value."""

from __future__ import annotations

from dataclasses import fields

import pytest

from chalicelib.errors import SettingsError
from chalicelib.settings import VARIABLES, Settings, read

RIGHT = {"DATABASE_URL": "postgresql://larder_app@db/larder"}


def faults(**environment: str) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        read({**RIGHT, **environment})
    return str(refused.value).splitlines()


def test_the_database_alone_must_be_set_and_the_rest_has_safe_defaults() -> None:
    settings = read(RIGHT)
    assert settings.enable_kb is True
    assert settings.enable_kb_retrieval is False
    assert settings.mutations_per_hour == 10
    assert settings.allowed_domains == ()
    assert settings.allowed_ports == {80, 443, 8080, 8443}
    assert settings.allow_private_networks is False


def test_without_a_database_the_fault_names_the_variable() -> None:
    with pytest.raises(SettingsError, match=r"^DATABASE_URL is not set$"):
        read({})


def test_every_fault_is_told_at_once_in_one_line_each() -> None:
    with pytest.raises(SettingsError) as refused:
        read(
            {"ENABLE_KB": "maybe", "KB_MUTATIONS_PER_HOUR": "0", "KB_ALLOWED_PORTS": "80,", "LARDER_LOG_LEVEL": "loud"}
        )
    told = [line.replace(" is", ":").split(":")[0] for line in str(refused.value).splitlines()]
    assert sorted(told) == [
        "DATABASE_URL",
        "ENABLE_KB",
        "KB_ALLOWED_PORTS",
        "KB_MUTATIONS_PER_HOUR",
        "LARDER_LOG_LEVEL",
    ]


def test_no_value_is_ever_repeated() -> None:
    marked = {variable.name: "s3cr3t-\N{KEY}" for variable in VARIABLES.values()}
    with pytest.raises(SettingsError) as refused:
        read(marked)
    assert "s3cr3t" not in str(refused.value)
    assert "\N{KEY}" not in str(refused.value)
    assert "s3cr3t" not in repr(refused.value)
    # Neither does the traceback that a log would hold.
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("word", ["true", "True", "TRUE", "1", "yes", "on", " on "])
def test_words_for_on(word: str) -> None:
    assert read({**RIGHT, "ENABLE_KB_RETRIEVAL": word}).enable_kb_retrieval is True


@pytest.mark.parametrize("word", ["false", "False", "0", "no", "OFF", "off\n"])
def test_words_for_off(word: str) -> None:
    assert read({**RIGHT, "ENABLE_KB": word}).enable_kb is False


@pytest.mark.parametrize("word", ["", " ", "2", "enabled", "tru", "none", "-1", "оn"])  # the last o is Cyrillic
def test_a_flag_that_could_mean_either_is_refused(word: str) -> None:
    for name in ("ENABLE_KB", "ENABLE_KB_RETRIEVAL", "KB_ALLOW_PRIVATE_NETWORKS"):
        assert faults(**{name: word}) == [f"{name}: must be true or false"]


@pytest.mark.parametrize("text", ["0", "-1", "1.0", "1e3", "", "ten", "1000001", "٣", "²", "1_0", "0x10", "+5"])
def test_a_number_out_of_range_or_in_another_script_is_refused(text: str) -> None:
    assert faults(KB_MUTATIONS_PER_HOUR=text) == ["KB_MUTATIONS_PER_HOUR: must be a whole number from 1 to 1000000"]


@pytest.mark.parametrize("text", ["", "80,", ",80", "80,,443", "http", "0", "65536", "80;443", "-80", "80-443"])
def test_ports_are_numbers_without_an_empty_entry(text: str) -> None:
    (fault,) = faults(KB_ALLOWED_PORTS=text)
    assert fault == "KB_ALLOWED_PORTS: must be a whole number from 1 to 65535"


def test_ports_may_have_blanks_around_them() -> None:
    assert read({**RIGHT, "KB_ALLOWED_PORTS": " 443 , 8443"}).allowed_ports == {443, 8443}


def test_an_empty_allowlist_means_no_restriction() -> None:
    assert read({**RIGHT, "KB_ALLOWLIST_DOMAINS": ""}).allowed_domains == ()


@pytest.mark.parametrize(
    "text", [" ", "\t", ",", "example.com,", ",example.com", "a..b", "example.com,,b.example", "*", "*.com", "-"]
)
def test_an_allowlist_with_an_empty_or_impossible_entry_stops_the_start(text: str) -> None:
    (fault,) = faults(KB_ALLOWLIST_DOMAINS=text)
    assert fault.startswith("KB_ALLOWLIST_DOMAINS: ")


def test_allowlist_domains_are_normalised() -> None:
    settings = read({**RIGHT, "KB_ALLOWLIST_DOMAINS": " Example.COM. , bücher.example"})
    assert settings.allowed_domains == ("example.com", "xn--bcher-kva.example")


def test_a_log_level_is_one_of_the_words_in_any_case() -> None:
    assert read({**RIGHT, "LARDER_LOG_LEVEL": "debug"}).log_level == "DEBUG"
    (fault,) = faults(LARDER_LOG_LEVEL="TRACE")
    assert "must be one of" in fault


def test_an_empty_database_url_is_not_set() -> None:
    for text in ("", "  "):
        with pytest.raises(SettingsError, match=r"^DATABASE_URL is not set$"):
            read({"DATABASE_URL": text})


def test_every_field_has_one_variable_with_a_help_that_is_a_sentence() -> None:
    assert [one.name for one in fields(Settings)] == list(VARIABLES)
    names = [variable.name for variable in VARIABLES.values()]
    assert len(set(names)) == len(names)
    assert all(variable.help.endswith(".") for variable in VARIABLES.values())


def test_every_default_keeps_its_own_rule() -> None:
    for variable in VARIABLES.values():
        if variable.default is not None:
            variable.parse(variable.default)


def test_variables_of_others_are_passed_over() -> None:
    assert read({**RIGHT, "PATH": "/bin", "KB_SOMETHING_NEW": "x", "ENABLE_KBX": "maybe"}) == read(RIGHT)


@pytest.mark.parametrize(
    "endpoint",
    ["http://llm.example.com/v1", "HTTP://llm.example.com/v1", "https://llm.example.com/v1#x", "https://h/?a"],
)
def test_a_model_is_asked_at_a_plain_https_address(endpoint: str) -> None:
    [fault] = faults(LARDER_LLM_ENDPOINT=endpoint)
    assert fault.startswith("LARDER_LLM_ENDPOINT: must be ")


def test_a_model_of_this_machine_may_be_asked_in_the_clear_where_that_is_allowed() -> None:
    own = "http://127.0.0.1:8000/v1"
    settings = read({**RIGHT, "LARDER_LLM_ENDPOINT": own, "KB_ALLOW_PRIVATE_NETWORKS": "true"})
    assert settings.llm_endpoint == own

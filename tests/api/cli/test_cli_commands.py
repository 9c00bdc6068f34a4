from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from tests.api.cli.conftest import Cli
from tests.api.furniture import hold_text
from tests.tenants import Tenant


def ids(result: str) -> list[str]:
    return [line.split()[0] for line in result.splitlines()[1:]]


def test_status_says_how_many_sources_there_are_and_when_the_night_is(cli: Cli) -> None:
    cli("sources", "add", "https://example.com/")
    shown = cli("status")
    assert shown.exit_code == 0
    assert "1 active" in shown.stdout
    assert "of 50 used" in shown.stdout
    assert cli.json("status")["sources"] == {"active": 1}


def test_settings_set_changes_what_is_given_and_show_shows_it(cli: Cli) -> None:
    changed = cli("settings", "set", "--timezone", "Europe/Berlin", "--night-start", "23:30", "--cap", "7")
    assert changed.exit_code == 0
    settings = cli.json("settings", "show")
    assert settings["timezone"] == "Europe/Berlin"
    assert (settings["night_start"], settings["nightly_job_cap"], settings["enabled"]) == ("23:30", 7, True)
    assert "23:30" in cli("settings", "show").stdout
    assert cli.json("settings", "set", "--disabled")["enabled"] is False
    assert cli.json("settings", "set", "--enabled")["enabled"] is True


def test_settings_set_with_nothing_to_set_is_a_wrong_call(cli: Cli) -> None:
    assert cli("settings", "set").exit_code == 2


def test_sources_add_tells_what_is_new_and_what_was_there(cli: Cli) -> None:
    first = cli("sources", "add", "HTTPS://Example.com:443", "--name", "Example", "--ttl", "6h")
    again = cli("sources", "add", "https://example.com/", "https://example.org/")
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert [line.split()[0] for line in first.stdout.splitlines()[1:]] == ["added"]
    assert [line.split()[0] for line in again.stdout.splitlines()[1:]] == ["updated", "added"]
    listed = cli.json("sources", "list")
    assert [(one["name"], one["refresh_ttl_seconds"]) for one in listed] == [
        ("Example", 21_600),
        ("https://example.org/", 604_800),
    ]


@pytest.mark.parametrize(
    ("ttl", "seconds"), [("5m", 300), ("5min", 300), ("5 min", 300), ("400", 400), ("1w", 604_800)]
)
def test_a_ttl_is_read_in_the_usual_units(cli: Cli, ttl: str, seconds: int) -> None:
    cli("sources", "add", "https://example.com/", "--ttl", ttl)
    assert [one["refresh_ttl_seconds"] for one in cli.json("sources", "list")] == [seconds]


def test_sources_add_takes_more_than_one_batch_holds(cli: Cli) -> None:
    results = cli.json("sources", "add", *(f"https://example.com/{number}" for number in range(101)))
    assert [result["index"] for result in results] == list(range(101))
    assert len(cli.json("sources", "list")) == 101


def test_sources_add_ends_with_1_if_one_is_refused_and_adds_the_rest(cli: Cli) -> None:
    result = cli("sources", "add", "https://example.com/", "file:///etc/passwd")
    assert result.exit_code == 1
    assert [one["uri"] for one in cli.json("sources", "list")] == ["https://example.com/"]


def test_sources_add_says_of_each_that_is_refused_which_it_is_and_why(cli: Cli) -> None:
    told = cli("sources", "add", "https://example.com/", "ftp://foo/", "http://10.0.0.1/").stdout
    added, scheme, address = told.splitlines()[1:]
    assert added.split()[::2] == ["added", "https://example.com/"]
    assert scheme.split()[:2] == ["refused", "ftp://foo/"]
    assert "must start with http" in scheme
    assert address.split()[:2] == ["refused", "http://10.0.0.1/"]
    assert "may not be fetched" in address


def test_what_is_refused_goes_by_the_option_that_was_given(cli: Cli) -> None:
    row = cli("sources", "add", "https://example.com/", "--ttl", "0").stdout.splitlines()[1]
    assert row.split(maxsplit=2) == ["refused", "https://example.com/", "--ttl: must be 300 or more"]
    assert cli("settings", "set", "--cap", "0").stderr.startswith("error: --cap: must be ")


@pytest.mark.parametrize("ttl", ["soon", "5 fortnights", "-300", "1.5h", ""])
def test_sources_add_refuses_a_ttl_that_is_no_duration(cli: Cli, ttl: str) -> None:
    assert cli("sources", "add", "https://example.com/", f"--ttl={ttl}").exit_code == 2


def test_sources_list_of_none_says_so_and_is_an_empty_list_for_programs(cli: Cli) -> None:
    assert cli("sources", "list").stdout == "no sources\n"
    assert cli.json("sources", "list") == []


def test_a_source_goes_by_its_id_its_uri_or_its_name(cli: Cli) -> None:
    [added] = cli.json("sources", "add", "https://example.com/", "--name", "The example")
    ident = added["source"]["id"]
    for given in (ident, ident.upper(), "https://example.com/", "HTTPS://example.com", "The example"):
        assert cli.json("sources", "show", given)["id"] == ident
    assert "https://example.com/" in cli("sources", "show", ident).stdout


def test_a_name_that_two_sources_have_means_neither(cli: Cli) -> None:
    twins = [cli.json("sources", "add", f"https://example.com/{n}", "--name", "twin")[0]["source"] for n in (1, 2)]
    result = cli("sources", "show", "twin")
    told, _, *rows = result.stderr.splitlines()
    assert (result.exit_code, told) == (1, "error: 2 sources have the name 'twin'; give the id or the uri of one")
    assert [row.split() for row in rows] == [[one["id"], one["uri"]] for one in twins]
    document = json.loads(cli("sources", "show", "twin", "--json").stderr)
    assert (document["code"], document["sources"]) == ("ambiguous", twins)
    assert cli("sources", "show", "https://example.com/1").exit_code == 0


def test_a_source_that_is_not_there_is_said_to_be_missing(cli: Cli) -> None:
    result = cli("sources", "show", "nobody")
    assert (result.exit_code, result.stderr) == (1, "error: no source has the id, uri or name 'nobody'\n")


def test_a_source_is_published_and_kept_back_again(cli: Cli) -> None:
    cli("sources", "add", "https://example.com/", "--name", "one")
    assert cli("sources", "publish", "one").stdout == "published\n"
    assert cli.json("firewall", "source-policy", "one")["published"] is True
    assert cli("sources", "unpublish", "one").stdout == "not published\n"
    cli("firewall", "set-source-policy", "one", "--sensitivity", "internal")
    assert cli("sources", "publish", "one").stdout == (
        "published; the source is internal, so there is nothing public of it\n"
    )


def test_sources_toggle_switches_over_or_the_way_it_is_told(cli: Cli) -> None:
    cli("sources", "add", "https://example.com/", "--name", "one")
    assert cli.json("sources", "toggle", "one")["active"] is False
    assert cli.json("sources", "toggle", "one", "--off")["active"] is False
    assert "off" in cli("sources", "list").stdout
    assert cli.json("sources", "toggle", "one", "--on")["active"] is True


def test_sources_queue_is_for_now_unless_it_is_for_the_night(cli: Cli) -> None:
    cli("sources", "add", "https://example.com/", "--name", "one")
    night = cli.json("sources", "queue", "one", "--night")
    now = cli.json("sources", "queue", "one")
    assert (night["when"], now["when"]) == ("night", "now")
    assert night["event_id"] == now["event_id"]
    assert now["event_id"] in cli("sources", "queue", "one").stdout


def test_suggestions_are_listed_snoozed_dismissed_and_approved(cli: Cli) -> None:
    cli("sources", "add", *(f"https://example.com/{number}" for number in range(4)))
    listed = cli("suggestions", "list")
    assert "never_fetched" in listed.stdout
    first, second, third, fourth = ids(listed.stdout)
    assert "snoozed until" in cli("suggestions", "snooze", first, "--days", "3").stdout
    assert cli("suggestions", "dismiss", second).stdout == "dismissed\n"
    names = {one["id"]: one["source_name"] for one in cli.json("suggestions", "list")}
    approved = cli("suggestions", "approve", third).stdout.splitlines()[1]
    assert approved.split()[:3] == [third, names[third], "scheduled"]
    assert [one["id"] for one in cli.json("suggestions", "list")] == [fourth]
    assert f"{fourth}  {names[fourth]}  scheduled" in cli("suggestions", "approve", "--all").stdout
    assert cli("suggestions", "list").stdout == "no open suggestions\n"
    assert cli("suggestions", "approve", "--all").exit_code == 0


def test_suggestions_are_approved_for_programs_too(cli: Cli) -> None:
    cli("sources", "add", "https://example.com/")
    cli.json("suggestions", "list")
    assert [one["status"] for one in cli.json("suggestions", "approve", "--all")] == [202]


def test_suggestions_approve_ends_with_1_if_one_is_refused(cli: Cli) -> None:
    cli("sources", "add", "https://example.com/")
    [suggestion] = cli.json("suggestions", "list")
    result = cli("suggestions", "approve", suggestion["id"], str(uuid4()))
    assert result.exit_code == 1
    assert "scheduled" in result.stdout
    assert "refused: there is no such suggestion" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("approve",),
        ("approve", "--all", "6c0f0e63-0000-4000-8000-000000000000"),
        ("approve", "first"),
        ("snooze", "6c0f0e63-0000-4000-8000-000000000000"),
        ("snooze", "6c0f0e63-0000-4000-8000-000000000000", "--days", "366"),
        ("dismiss", "../../settings"),
    ],
)
def test_suggestions_called_in_a_wrong_way_decide_nothing(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli("sources", "add", "https://example.com/")
    assert cli("suggestions", *arguments).exit_code == 2
    assert len(cli.json("suggestions", "list")) == 1


def test_events_are_listed_by_state_and_source_and_cancelled(cli: Cli) -> None:
    for name in ("one", "two"):
        cli("sources", "add", f"https://example.com/{name}", "--name", name)
        cli("sources", "queue", name, "--night")
    assert len(cli.json("events", "list")) == 2
    assert len(cli.json("events", "list", "--limit", "1")) == 1
    [event] = cli.json("events", "list", "--source", "one", "--state", "pending")
    row = cli("events", "list", "--source", "one").stdout.splitlines()[1].split()
    assert (row[0], row[-2:]) == (event["event_id"], ["0", "one"])
    assert cli("events", "cancel", event["event_id"]).stdout == "cancelled\n"
    assert cli.json("events", "list", "--state", "pending", "--source", "one") == []
    again = cli("events", "cancel", event["event_id"])
    assert again.exit_code == 1


def test_every_command_that_answers_takes_json(cli: Cli) -> None:
    for arguments in (
        ("status",),
        ("sources", "list"),
        ("suggestions", "list"),
        ("events", "list"),
        ("settings", "show"),
    ):
        assert isinstance(json.loads(cli(*arguments, "--json").stdout), dict | list)


def test_a_review_is_read_before_it_is_approved(cli: Cli, acme: Tenant) -> None:
    asked = hold_text(acme, UUID(acme.add("https://a.example")["id"]), now=datetime.now(UTC))
    shown = cli("suggestions", "review", str(asked)).stdout
    assert "shrunk" in shown
    assert "+A doubtful text." in shown
    assert cli.json("suggestions", "review", str(asked))["text"] == "A doubtful text."

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from chalicelib.client import ApiProblem, Client, Unreachable
from tests.integration.client.canned_server import as_json, serving

PROBLEM = {"type": "urn:x", "title": "Quota exceeded", "status": 402, "detail": "full", "code": "quota_exceeded"}
LIMITED = {**PROBLEM, "status": 429, "code": "rate_limited"}


def test_a_problem_document_is_raised_with_its_extension_members() -> None:
    full = as_json({**PROBLEM, "metric": "kb_sources", "limit": 25}, 402)
    with serving(full) as server, pytest.raises(ApiProblem) as raised:
        Client(server.url, "t", "a").put_source("https://example.com/")
    problem = raised.value
    assert (problem.status, problem.code, problem.detail) == (402, "quota_exceeded", "full")
    assert problem.extra == {"metric": "kb_sources", "limit": 25}
    assert str(problem) == "full (quota_exceeded)"


@pytest.mark.parametrize(
    "answer",
    [
        (502, {"Content-Type": "text/html"}, b"<h1>Bad gateway</h1>"),
        (502, {}, b""),
        as_json({"message": "Internal server error"}, 502),
        as_json(["no", "object"], 502),
        (502, {"Content-Type": "application/problem+json"}, b"\xff{"),
    ],
)
def test_an_error_that_is_no_problem_document_still_is_a_problem(answer: tuple[int, dict[str, str], bytes]) -> None:
    with serving(answer) as server, pytest.raises(ApiProblem) as raised:
        Client(server.url).healthz()
    assert (raised.value.status, raised.value.code) == (502, "http_502")


def test_a_redirect_is_a_problem_and_is_not_followed() -> None:
    with serving(as_json({})) as other, serving((307, {"Location": f"{other.url}/v1/kb/settings"}, b"")) as server:
        with pytest.raises(ApiProblem) as raised:
            Client(server.url, "token", "admin").change_settings(enabled=True)
        assert other.asked == []
    assert raised.value.status == 307


@pytest.mark.parametrize("body", [b"<html>a captive portal</html>", b"", b"\xff\xfe"])
def test_a_success_that_is_no_json_does_not_pass_for_an_answer(body: bytes) -> None:
    with serving((200, {"Content-Type": "text/html"}, body)) as server, pytest.raises(Unreachable, match="not Larder"):
        Client(server.url).healthz()


def test_nobody_at_the_address_is_unreachable_and_names_the_address() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        with pytest.raises(Unreachable, match=url):
            Client(url).healthz()


def test_without_patience_a_429_is_raised_at_once_and_says_how_long() -> None:
    with serving(as_json(LIMITED, 429, Retry_After="7"), as_json({})) as server:
        with pytest.raises(ApiProblem) as raised:
            Client(server.url, "t", "a").change_settings(enabled=True)
        assert len(server.asked) == 1
    assert (raised.value.status, raised.value.retry_after) == (429, 7.0)


def test_with_patience_a_429_is_waited_out_and_sent_again() -> None:
    with serving(as_json(LIMITED, 429, Retry_After="0"), as_json({"enabled": True})) as server:
        answer = Client(server.url, "t", "a", patience_seconds=5).change_settings(enabled=True)
        assert [one.json for one in server.asked] == [{"enabled": True}] * 2
    assert answer["enabled"] is True


@pytest.mark.parametrize("retry_after", ["3600", "soon", "", "-1"])
def test_a_wait_that_is_longer_than_the_patience_or_unreadable_is_not_begun(retry_after: str) -> None:
    with serving(as_json(LIMITED, 429, Retry_After=retry_after), as_json({})) as server:
        with pytest.raises(ApiProblem):
            Client(server.url, "t", "a", patience_seconds=5).change_settings(enabled=True)
        assert len(server.asked) == 1


def test_the_patience_is_for_all_waits_together(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    with serving(as_json(LIMITED, 429, Retry_After="1"), as_json(LIMITED, 429, Retry_After="1")) as server:
        with pytest.raises(ApiProblem):
            Client(server.url, "t", "a", patience_seconds=1.5).change_settings(enabled=True)
        assert len(server.asked) == 2
    assert waits == [1.0]


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_nothing_but_a_429_is_sent_twice(status: int) -> None:
    with serving(as_json({}, status, Retry_After="0"), as_json({})) as server:
        with pytest.raises(ApiProblem):
            Client(server.url, "t", "a", patience_seconds=5).change_settings(enabled=True)
        assert len(server.asked) == 1


def test_the_admin_token_goes_with_changes_alone() -> None:
    with serving(as_json({"hits": []})) as server:
        client = Client(server.url, "the-token", "the-admin")
        client.show_status()
        client.search_kb("honey")
        client.change_settings(enabled=True)
    assert [one.headers.get("Authorization") for one in server.asked] == ["Bearer the-token"] * 3
    assert [one.headers.get("X-Admin-Token") for one in server.asked] == [None, None, "the-admin"]


def test_a_netrc_entry_does_not_replace_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password something\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(as_json({})) as server:
        Client(server.url, "the-token").show_status()
        Client(server.url).show_status()
    assert [one.headers.get("Authorization") for one in server.asked] == ["Bearer the-token", None]


@pytest.mark.parametrize("url", ["", "example.com", "ftp://example.com", "file:///etc/passwd"])
def test_a_base_url_that_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="http"):
        Client(url)


@pytest.mark.parametrize("token", ["smart “quotes”", "two\nlines", "bell\x07"])
def test_a_token_that_no_header_can_hold_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="ASCII"):
        Client("https://example.com", token)
    with pytest.raises(ValueError, match="ASCII"):
        Client("https://example.com", "fine", token)


def test_a_text_in_pages_is_followed_by_its_links_to_the_end() -> None:
    first = (200, {"Link": "<?role=a%26b&cursor=c%2F1>; rel=next"}, b"id,role\r\n")
    with serving(first, (200, {"Content-Type": "text/csv; charset=utf-8"}, "1,é\r\n".encode())) as server:
        pages = Client(server.url, "t", "a").export_evaluations(role="a&b")
        assert "".join(pages) == "id,role\r\n1,é\r\n"
    assert [one.path.partition("?")[2] for one in server.asked] == ["role=a%26b", "role=a%26b&cursor=c%2F1"]
    assert [one.headers.get("X-Admin-Token") for one in server.asked] == ["a", "a"]


def test_a_policy_is_sent_as_given_with_its_nulls_and_its_condition() -> None:
    with serving(as_json({"policy": {}})) as server:
        client = Client(server.url, "t", "a")
        client.set_source_policy("x", {"permitted_roles": None, "allowed_purposes": []}, if_match='"d"')
        client.set_mode(None)
    assert server.asked[0].json == {"permitted_roles": None, "allowed_purposes": []}
    assert server.asked[0].headers["If-Match"] == '"d"'
    assert server.asked[1].json == {"mode": None}


def test_a_document_is_sent_as_text_or_as_base64() -> None:
    with serving(as_json({"outcome": "stored"})) as server:
        client = Client(server.url, "t", "a")
        client.remember_document("# A", "text/markdown", policy={"permitted_roles": None})
        client.remember_document(b"%PDF\xff", "application/pdf", title="A")
    assert server.asked[0].json == {"content_type": "text/markdown", "text": "# A", "permitted_roles": None}
    assert server.asked[1].json == {"title": "A", "content_type": "application/pdf", "content_base64": "JVBERv8="}

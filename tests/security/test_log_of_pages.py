"""Whatever is typed into whatever page: nothing of it is in the log."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from chalicelib.api.resource import Route
from chalicelib.ui import pages
from tests.api import contract
from tests.api.furniture import furnish
from tests.security.ear import Ear, listening, marked_deployment, marked_tenant  # noqa: F401 - fixtures
from tests.tenants import Deployment, Tenant
from tests.visitor import Visitor

ROUTES = [route for resource in pages() for route in resource.routes]
MARKS = {"User-Agent": "zqagentqz", "Referer": "https://zqrefererqz.example/", "X-Forwarded-For": "zqforwardedqz"}


@pytest.mark.parametrize("route", ROUTES, ids=contract.title)
def test_nothing_of_a_visit_is_logged(route: Route, shared: Deployment, ours: Tenant, ear: Ear) -> None:
    path = route.path.format(**furnish(ours))
    visitor = Visitor(shared)
    csrf = visitor.sign_in(ours).form("sign-out")[1]["csrf"]
    [cookie] = visitor.cookies.values()
    visitor.said |= MARKS
    typed = dict.fromkeys(route.body.model_fields, "zqtypedqz")
    if route.method == "GET":
        for query in ({}, dict.fromkeys(route.query.model_fields, "zqqueryqz"), {"zqfieldqz": "zqqueryqz"}):
            visitor.get(f"{path}?{urlencode(query)}")
    else:
        right = {**typed, "csrf": csrf}
        for fields in (typed, {**typed, "csrf": "zqcsrfqz"}, {**right, "zqfieldqz": "x"}, right):
            visitor._ask("POST", f"http://127.0.0.1:8000{path}", FORM, urlencode(fields).encode())
    visitor.cookies = {"larder": "zqcookieqz"}
    visitor.get(path)
    ear.heard_nothing_of(ours.api_token, ours.admin_token, csrf, cookie, but=route.path)


FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin", "Origin": "null"}

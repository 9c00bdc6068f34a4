"""``/ui/sign-in``: from two tokens to a session, and out again. Both pages also own the cookie, and the style sheet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chalicelib.api.resource import Answer, Input, NoQuery, Nothing
from chalicelib.errors import Forbidden, Unauthorized
from chalicelib.services import tenant_settings, tokens
from chalicelib.ui import session
from chalicelib.ui.page import Visit, go_to, page, pages
from chalicelib.ui.session import Session, SignedIn

FIRST_PAGE = "admin/memory/firewall"
_STYLE = Path(__file__).parent / "static" / "style.css"

sign_in = pages("sign_in")


class TokensIn(Input):
    """What somebody signs in with."""

    api_token: Annotated[str, Field(max_length=300)]
    admin_token: Annotated[str, Field(max_length=300)]


@sign_in.route("GET", "/ui/sign-in", action="ui.sign_in", access="open", answers={200: "text/html"})
def show_sign_in(visit: Visit[Nothing, NoQuery]) -> Answer:
    """Ask for the two tokens."""
    whose = visit.session or session.begin(visit.call.now)
    cookie = {} if visit.session else {"Set-Cookie": _cookie(visit, whose)}
    return page(replace(visit, session=whose), "sign_in.html", headers=cookie, alert=None)


@sign_in.route("POST", "/ui/sign-in", action="ui.sign_in", access="open", body=TokensIn, answers={303: "text/html"})
def do_sign_in(visit: Visit[TokensIn, NoQuery]) -> Answer:
    """Check the two tokens as the API does, and begin a session that names them."""
    outside, body = visit.call.outside, visit.call.body
    try:
        who = tokens.authenticate(outside.database, body.api_token.strip(), body.admin_token.strip(), admin_needed=True)
    except Unauthorized as refused:
        return page(visit, "sign_in.html", status=refused.status, alert="That is no valid API token.")
    except Forbidden as refused:
        return page(visit, "sign_in.html", status=refused.status, alert="That is no valid admin token of this tenant.")
    assert who.admin_token_id is not None, "an admin token was asked for"
    tenant = tenant_settings.show(outside, who).name
    whose = session.begin(visit.call.now, SignedIn(who.token_id, who.admin_token_id, tenant))
    return go_to(visit, FIRST_PAGE, _cookie(visit, whose))


@sign_in.route("POST", "/ui/sign-out", action="ui.sign_out", access="open", answers={303: "text/html"})
def do_sign_out(visit: Visit[Nothing, NoQuery]) -> Answer:
    """Take the session away."""
    return go_to(visit, "sign-in", _cookie(visit, None))


@sign_in.route("GET", "/ui/style.css", action="ui.style", access="open", answers={200: "text/css"})
def show_style(visit: Visit[Nothing, NoQuery]) -> Answer:
    """The pages' style sheet."""
    return Answer(_STYLE.read_text(encoding="utf-8"), 200, {"Content-Type": "text/css; charset=utf-8"})


def _cookie(visit: Visit[Any, Any], whose: Session | None) -> str:
    value = "" if whose is None else session.sealed(visit.call.outside.keys, whose)
    return session.set_cookie(value, secure=visit.secure)

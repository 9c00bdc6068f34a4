"""Whether a fetched text looks like no document: then the old version stays and a person is asked (spec 1.1).

Every sign counts only in a short text, so that an article about login pages, challenges or error 404 is no doubt.
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import urlsplit

SUBSTANTIAL = 200  # characters: a shorter text may shrink as it likes
SHRUNK = 1 / 3
SHORT = 1500  # characters: what is longer has something to say of its own


class Doubt(StrEnum):
    """Why a text is kept aside."""

    MOVED_SITE = "moved_site"
    BOT_CHALLENGE = "bot_challenge"
    CAPTIVE_PORTAL = "captive_portal"
    SOFT_404 = "soft_404"
    ERROR_PAGE = "error_page"
    MAINTENANCE = "maintenance"
    PARKED_DOMAIN = "parked_domain"
    LOGIN_PAGE = "login_page"
    SHRUNK = "shrunk"


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


_SIGNS: dict[Doubt, re.Pattern[str]] = {
    Doubt.BOT_CHALLENGE: _any(
        r"just a moment\.\.\.|checking (?:if the site connection is secure|your browser)|verify(?:ing)? (?:that )?you are"
        r" (?:a )?human|enable javascript and cookies to continue|pardon our interruption|ddos-guard"
        r"|attention required! \| cloudflare|reference #\s?[0-9a-f]+\.|incapsula incident|press & hold to confirm",
    ),
    Doubt.CAPTIVE_PORTAL: _any(r"log ?in to (?:this|the) network|captive portal|guest wi-?fi"),
    Doubt.SOFT_404: _any(
        r"\A\W*(?:error\W+)?404\b|page (?:was |could )?not (?:be )?found|page (?:doesn|does no)['’]?t exist"
        r"|seite (?:wurde )?nicht gefunden|p[áa]gina no encontrada|page (?:introuvable|non trouvée)|pagina non trovata"
        r"|p[áa]gina não encontrada|страница не найдена|ページが見つかりません|页面不存在|pagina niet gevonden",
    ),
    Doubt.ERROR_PAGE: _any(
        r"\A\W*(?:5\d\d\W+)?internal server error|database (?:connection )?error|error establishing a database connection"
        r"|bad gateway|service unavailable|fatal error: |apache2 (?:debian|ubuntu) default page|welcome to nginx!",
    ),
    Doubt.MAINTENANCE: _any(
        r"we['’]ll be (?:right )?back|(?:down|closed|unavailable) for (?:scheduled )?maintenance|under maintenance"
        r"|wartungsarbeiten|en maintenance|en mantenimiento",
    ),
    Doubt.PARKED_DOMAIN: _any(
        r"domain (?:name )?(?:is|may be) (?:parked|for sale)|buy this domain|parked (?:free|domain)"
    ),
}
_LOGIN = _any(r"\b(?:sign|log) ?in\b|anmelden|se connecter|iniciar sesi[óo]n|accedi\b|inloggen|войти|ログイン|登录")
_PASSWORD = _any(r"password|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|пароль|パスワード|密码")


def find_doubt(
    text: str, *, title: str | None, previous_text: str | None, source_url: str, final_url: str
) -> str | None:
    """Return the `Doubt` that the text raises, None if it may be published.

    ``previous_text`` is the current version's (None on a first fetch); ``final_url`` is where redirects ended.
    """
    if _site(source_url) != _site(final_url):
        return Doubt.MOVED_SITE
    if len(text) < SHORT:
        for doubt, sign in _SIGNS.items():
            if sign.search(title or "") or sign.search(text):
                return doubt
        if _LOGIN.search(text) and _PASSWORD.search(text):
            return Doubt.LOGIN_PAGE
    if previous_text and len(previous_text) >= SUBSTANTIAL and len(text) < len(previous_text) * SHRUNK:
        return Doubt.SHRUNK
    return None


def _site(url: str) -> str:
    """Return the last two labels of the host, roughly what one owner registers; an address is a site of its own."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if ":" in host or host.replace(".", "").isdigit():
        return host
    return ".".join(host.split(".")[-2:])

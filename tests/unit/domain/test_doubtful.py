"""Pages that are no documents, and documents about them.

Besides what stands here: of 1 000 pages of Debian, Django and Werkzeug manuals in seven languages one was doubted, a
manual's own page for error 404; of 7 595 pieces of 1 500 characters cut out of them, five were.
"""

import time
from typing import Any

import pytest

from chalicelib.domain.doubtful import find_doubt

URL = "https://docs.example.com/guide"
ARTICLE = "\n".join(
    [
        "Pump guide",
        *(
            f"Step {n}: open valve {n} and wait until the gauge of section {n} shows a steady pressure."
            for n in range(60)
        ),
    ]
)
MENU = "\n".join(f"Menu entry {number}" for number in range(120))


def doubt(
    text: str,
    title: str | None = None,
    previous: str | None = None,
    source_url: str = URL,
    final_url: str = URL,
) -> str | None:
    return find_doubt(text, title=title, previous_text=previous, source_url=source_url, final_url=final_url)


NO_DOCUMENTS: list[tuple[str, str | None, str]] = [
    # Bot challenges
    ("bot_challenge", "Just a moment...", "docs.example.com\nVerify you are human by completing the action below."),
    ("bot_challenge", "Just a moment...", "Enable JavaScript and cookies to continue"),
    ("bot_challenge", "Nur einen Moment…", "docs.example.com\nÜberprüfung, ob die Verbindung sicher ist."),
    ("bot_challenge", "Un instant…", "docs.example.com\nVérifiez que vous êtes humain."),
    ("bot_challenge", "请稍候…", "docs.example.com\n请完成以下操作，验证您是真人。"),
    ("bot_challenge", None, "Checking your browser before accessing example.com.\nThis process is automatic."),
    (
        "bot_challenge",
        "Attention Required! | Cloudflare",
        "Sorry, you have been blocked\nYou are unable to access example.com",
    ),
    ("bot_challenge", "Access denied | example.com used Cloudflare to restrict access", "Error 1020\nRay ID: 7f2a"),
    (
        "bot_challenge",
        "Access Denied",
        'Access Denied\nYou don\'t have permission to access "http://example.com/" on this server.\n'
        "Reference #18.2d351ab8.1557333295.a4e16ab",
    ),
    (
        "bot_challenge",
        "Pardon Our Interruption",
        "Pardon Our Interruption\nAs you were browsing something about your browser made us think you were a bot.",
    ),
    ("bot_challenge", None, "Request unsuccessful. Incapsula incident ID: 877000480068313158-230475"),
    ("bot_challenge", "DDoS-Guard", "Checking your browser before accessing example.com"),
    (
        "bot_challenge",
        "Making sure you're not a bot!",
        "Making sure you’re not a bot!\nLoading...\nWhy am I seeing this?",
    ),
    ("bot_challenge", "Vercel Security Checkpoint", "We're verifying your browser\nWebsite owner? Click here to fix"),
    ("bot_challenge", None, "Our systems have detected unusual traffic from your computer network."),
    ("bot_challenge", "example.com", "Please enable JS and disable any ad blocker"),
    ("bot_challenge", "Human Verification", "JavaScript is disabled\nWe need to verify that you're not a robot."),
    ("bot_challenge", None, "Press & Hold to confirm you are a human (and not a bot).\nReference ID 1b2c"),
    ("bot_challenge", "Один момент…", "docs.example.com\nПодтвердите, что вы человек, выполнив указанное действие."),
    # Logins
    (
        "login_page",
        "Sign in · GitLab",
        "GitLab Community Edition\nUsername or primary email\nPassword\nForgot your password?\nRemember me\nSign in",
    ),
    ("login_page", "Sign in - Google Accounts", "Sign in\nEmail or phone\nForgot email?\nNext\nCreate account"),
    (
        "login_page",
        "Sign in to your account",
        "Sign in\nEmail, phone, or Skype\nNo account? Create one!\nCan’t access your account?",
    ),
    (
        "login_page",
        "Log in with Atlassian account",
        "Log in to continue\nEnter your email\nContinue with Google\nCan't log in?",
    ),
    (
        "login_page",
        None,
        "Example Wiki\nLog In\nUsername:\nPassword:\nRemember my login on this computer\nForgot your password?",
    ),
    (
        "login_page",
        "Anmelden – Wissensbasis",
        "Anmelden\nBenutzername\nPasswort\nPasswort vergessen?\nAngemeldet bleiben",
    ),
    ("login_page", "Connexion", "Se connecter\nAdresse e-mail\nMot de passe\nMot de passe oublié ?\nCréer un compte"),
    ("login_page", "Iniciar sesión", "Iniciar sesión\nCorreo electrónico\nContraseña\n¿Olvidaste tu contraseña?"),
    ("login_page", "Entrar", "Entrar\nE-mail\nSenha\nEsqueceu a senha?\nCriar conta"),
    ("login_page", "Accedi", "Accedi\nNome utente\nPassword\nHai dimenticato la password?"),
    ("login_page", "Inloggen", "Inloggen\nGebruikersnaam\nWachtwoord\nWachtwoord vergeten?"),
    ("login_page", "Logowanie", "Zaloguj się\nE-mail\nHasło"),
    ("login_page", "Вход", "Войти\nЛогин\nПароль\nЗабыли пароль?\nЗапомнить меня"),
    ("login_page", "ログイン", "ログイン\nメールアドレス\nパスワード\nパスワードを忘れた方"),
    ("login_page", "用户登录", "登录\n用户名\n密码\n忘记密码？\n注册"),
    ("login_page", "Sign in", f"{MENU}\nSign in\nEmail\nPassword\nForgot password?"),
    # Pages that are not there
    ("soft_404", "404 Not Found", "404 Not Found\nnginx"),
    ("soft_404", "Page not found · GitHub Pages", "404\nFile not found"),
    (
        "soft_404",
        "Page Not Found — Example Docs",
        "Navigation\nindex\nPage Not Found\nThe page you requested does not exist.",
    ),
    ("soft_404", None, "Oops! That page can’t be found.\nIt looks like nothing was found at this location."),
    ("soft_404", "Example", "Home\nDocs\nSorry, we couldn't find the page you're looking for.\nBack to the homepage"),
    ("soft_404", "Example", "The page you are looking for might have been removed, had its name changed, or is gone."),
    (
        "soft_404",
        "Error 404 (Not Found)!!1",
        "404. That’s an error.\nThe requested URL /x was not found on this server.",
    ),
    ("soft_404", "Seite nicht gefunden – Beispiel", "Startseite\nLeider haben wir nichts gefunden."),
    ("soft_404", None, "Die angeforderte Seite wurde nicht gefunden.\nZur Startseite"),
    ("soft_404", "Page introuvable | Exemple", "Accueil\nRetour"),
    ("soft_404", None, "Désolé, la page que vous recherchez n'existe pas.\nRetour à l'accueil"),
    ("soft_404", "Página no encontrada", "Volver al inicio"),
    ("soft_404", "404 - Página não encontrada", "Voltar para o início"),
    ("soft_404", "Pagina non trovata", "Torna alla home"),
    ("soft_404", "Pagina niet gevonden", "Naar de startpagina"),
    ("soft_404", "Страница не найдена", "На главную"),
    ("soft_404", "ページが見つかりません", "トップページへ戻る"),
    ("soft_404", "页面不存在", "返回首页"),
    ("soft_404", "페이지를 찾을 수 없습니다", "홈으로"),
    ("soft_404", "Page not found | Example", f"{MENU}\nWe looked everywhere.\n{MENU}"),
    # Errors with status 200
    ("error_page", "500 Internal Server Error", "Internal Server Error\nThe server encountered an internal error."),
    ("error_page", None, "502 Bad Gateway\nnginx/1.24.0"),
    ("error_page", "503 Service Temporarily Unavailable", "503 Service Temporarily Unavailable"),
    ("error_page", "Database Error", "Error establishing a database connection"),
    ("error_page", None, "Fatal error: Uncaught Error: Call to undefined function x() in /srv/www/index.php on line 3"),
    ("error_page", None, "Application error: a client-side exception has occurred (see the browser console)."),
    ("error_page", "Error", "Something went wrong\nTry again"),
    ("error_page", "403 Forbidden", "Forbidden\nYou don't have permission to access this resource."),
    ("error_page", "Whitelabel Error Page", "This application has no explicit mapping for /error"),
    # The rest
    ("maintenance", "Site maintenance", "We’ll be back soon!\nSorry for the inconvenience."),
    ("maintenance", "Maintenance", "Briefly unavailable for scheduled maintenance. Check back in a minute."),
    ("maintenance", "Example", "Our site is currently undergoing scheduled maintenance. Thank you for your patience."),
    ("maintenance", "Wartungsarbeiten", "Wegen Wartungsarbeiten ist unsere Seite zurzeit nicht erreichbar."),
    ("maintenance", "Site en maintenance", "Nous revenons bientôt."),
    ("maintenance", "Example", "メンテナンス中です\n終了までお待ちください"),
    ("captive_portal", "Network sign-in", "You need to log in to this network before you can access the Internet."),
    ("captive_portal", "Airport Free WiFi", "Welcome\nTo use our free Wi-Fi, accept the terms of use."),
    ("captive_portal", "Web Filter", "Web Page Blocked!\nYou have tried to access a page that violates your policy."),
    ("parked_domain", "example.com", "The domain name example.com is for sale!\nBuy this domain"),
    ("parked_domain", "example.com", "This Web page is parked for FREE, courtesy of GoDaddy.com."),
    ("parked_domain", None, "Diese Domain steht zum Verkauf"),
    ("parked_domain", "Account Suspended", "This Account has been suspended.\nContact your hosting provider."),
    (
        "placeholder",
        "Welcome to nginx!",
        "Welcome to nginx!\nIf you see this page, the nginx web server is successfully installed.",
    ),
    (
        "placeholder",
        "Apache2 Debian Default Page: It works",
        "Apache2 Debian Default Page\nIt works!\n" + "Config. " * 300,
    ),
    ("placeholder", None, "It works!"),
    ("region_blocked", "Example", "We are sorry, this content is not available in your region."),
    ("consent_wall", "Before you continue to YouTube", "We use cookies and data to\nReject all\nAccept all"),
    ("needs_script", "App", "You need to enable JavaScript to run this app."),
    ("needs_script", "App", "Loading..."),
]


@pytest.mark.parametrize(("expected", "title", "text"), NO_DOCUMENTS)
def test_what_is_no_document_is_doubted_with_and_without_an_earlier_version(
    expected: str, title: str | None, text: str
) -> None:
    assert doubt(text, title) == expected
    assert doubt(text, title, ARTICLE) == expected


DOCUMENTS: list[tuple[str | None, str]] = [
    (None, "Pump guide\nOpen the valve."),
    ("A", "a"),
    (
        "404 Not Found - HTTP | MDN",
        "404 Not Found\n"
        + "The HTTP 404 Not Found client error response status code indicates that the server cannot find the "
        "requested resource. Links that lead to a 404 page are often called broken or dead links and can be subject to "
        "link rot. " * 12,
    ),
    (
        "How to build a login page",
        "How to build a login page\nLog in\nPassword\nEmail\n"
        + "A login page asks for a name and a password, and it has to say "
        "plainly what went wrong when they don't match. " * 30,
    ),
    (
        'Why does it say "Just a moment..."?',
        'Cloudflare says "Just a moment..." while it is checking your browser before it lets you in. To pass, '
        "enable JavaScript and cookies to continue. " * 20,
    ),
    (
        "Change your password",
        "Change your password\nLog in to the console and choose Password. Enter the new one twice and save. "
        "If you have forgotten your password, ask an administrator to reset it for you.",
    ),
    (
        "Handling errors",
        "Handling errors\nWhen the server answers 503 Service Unavailable, the client tries again. A 404 is final: "
        "the document was removed. An Internal Server Error is reported to the operator.",
    ),
    (
        "Maintenance of the pump",
        "Maintenance of the pump\nOil the bearing once a month. Scheduled maintenance is done at night.",
    ),
    (
        "Release notes",
        "Release notes\n4.2 fixes the page for error 404.\n4.1 fixes the login.\n4.0 fixes loading of pages.",
    ),
    ("Loading data", "Loading data\nRun load --file FILE. Loading takes a minute."),
    ("Buying a domain", "Buying a domain\nChoose a registrar, look whether the name is free, and pay for a year."),
    ("Guest WiFi", "Guest WiFi in the office\nThe password hangs at the reception and changes every Monday."),
    (
        "Example Docs",
        "Home\nSign in\nSign up\nSearch\nPump guide\n" + "Open the valve and wait for the gauge to settle. " * 8,
    ),
    (
        "Anmelden und abmelden",
        "Anmelden und abmelden\nWer sich anmelden will, ruft die Leitstelle an. Ein Passwort gibt es nicht.",
    ),
    ("状态码", "状态码\n服务器找不到页面时返回 404，客户端不再重试；登录失败时返回 401。"),
    (
        "Loading: the order of modules",
        "The order of modules\n" + "\n".join(f"module{number}: after module{number - 1}" for number in range(1, 40)),
    ),
    (
        "Log in | Pump manual",
        "Log in\nPassword\nEmail\n"
        + "Open the console and say who you are: the pump keeps a list of those who may start it, "
        "and it asks each of them for a password. " * 7,
    ),
    ("Status codes", "Status codes\n200\nOK\n301\nMoved Permanently\n404\nNot found\n500\nInternal Server Error"),
    ("Page not found | Example", "\n".join(f"Entry {number} of a long list" for number in range(300))),
    (None, f"{MENU}\nSign in\nEmail\nPassword\n{MENU}"),
    ("Example", "Sign in\nSign up\nThe pump that never stops\nEmail address\nSubscribe"),
    ("Coming home", "Coming home\nThe story of a pump that came back from the sea after thirty years."),
    (
        "Requirements",
        "Requirements\nThe editor works in every browser. It does without JavaScript if it has to. " + "Ok. " * 100,
    ),
]


@pytest.mark.parametrize(("title", "text"), DOCUMENTS)
def test_documents_that_speak_of_such_things_are_published(title: str | None, text: str) -> None:
    assert doubt(text, title) is None
    assert doubt(text, title, text[: len(text) // 2] + "\nwhat it said before") is None


def test_a_text_that_shrank_below_a_third_is_doubted() -> None:
    assert doubt("x" * 99, previous="y" * 300) == "shrunk"
    assert doubt("x" * 100, previous="y" * 300) is None
    assert doubt("x", previous="y" * 199) is None, "a short text may shrink"
    assert doubt("x" * 66, previous="y" * 200) == "shrunk"
    assert doubt("x") is None, "a first text did not shrink"
    assert doubt("x", previous="") is None


def test_a_longer_text_is_no_doubt() -> None:
    assert doubt(ARTICLE, previous="A short page that grew.") is None
    assert doubt(ARTICLE, previous=ARTICLE.replace("wait", "hold on")) is None


def test_a_page_that_still_says_what_it_said_may_say_more() -> None:
    login = "Sign in\nPassword\nForgot password?\nRemember me"
    page = "\n".join(ARTICLE.split("\n")[:6])
    assert doubt(f"{login}\n{page}", "Sign in", page) is None
    assert doubt(f"{login}\n{page[:90]}", "Sign in", page) == "login_page"


def test_menus_that_are_still_there_do_not_hide_that_the_text_is_gone() -> None:
    page = f"{MENU}\n" + "\n".join(ARTICLE.split("\n")[:14])
    assert len(MENU) > len(page) / 2
    assert doubt(f"{MENU}\nWe looked everywhere.", "Page not found | Example", page) == "soft_404"


def test_what_the_current_version_says_already_is_no_news() -> None:
    status = "Scheduled maintenance\nNone until 4 May"
    assert doubt("Scheduled maintenance\n9 May, 22:00 to 23:00", None, status) is None
    assert doubt("Scheduled maintenance\n9 May, 22:00 to 23:00", None, "Status\nAll systems work") == "maintenance"


SITES: list[tuple[str, str, bool]] = [
    ("http://example.com/", "https://www.example.com/", False),
    ("https://example.com/", "https://docs.example.com/a", False),
    ("https://www.example.com/", "https://EXAMPLE.com./b", False),
    ("https://docs.example.com/", "https://example.net/", True),
    ("https://example.com/", "https://example.com.evil.example/", True),
    ("https://example.com/", "https://notexample.com/", True),
    ("https://docs.example.co.uk/", "https://www.example.co.uk/", False),
    ("https://example.co.uk/", "https://other.co.uk/", True),
    ("https://example.com.au/", "https://other.com.au/", True),
    ("https://alice.github.io/", "https://bob.github.io/", True),
    ("https://pump.readthedocs.io/", "https://pump.readthedocs.io/en/latest/", False),
    ("https://192.0.2.1/", "https://192.0.2.1:8443/", False),
    ("https://192.0.2.1/", "https://198.51.2.1/", True),
    ("https://[2001:db8::1]/", "https://[2001:db8::2]/", True),
]


@pytest.mark.parametrize(("source", "final", "moved"), SITES)
def test_a_redirect_to_another_owners_site_is_doubted(source: str, final: str, moved: bool) -> None:
    expected: Any = "moved_site" if moved else None
    assert doubt(ARTICLE, source_url=source, final_url=final) == expected
    assert doubt(ARTICLE, None, "Quite another text." * 20, source, final) == expected


def test_a_site_that_moved_with_its_text_is_no_doubt() -> None:
    assert doubt(f"{ARTICLE}\nNew line", None, ARTICLE, "https://old.example/", "https://new.example.net/") is None


def test_the_reason_is_a_plain_string_for_the_database() -> None:
    assert type(doubt("It works!")) is str
    assert type(doubt(ARTICLE, final_url="https://example.net/")) is str
    assert type(doubt("x", previous=ARTICLE)) is str


@pytest.mark.parametrize(
    "unit",
    [
        "sorry ",
        "(",
        "\n",
        "\n ",
        "we page ",
        "domain ",
        "password ",
        "404 ",
        "sign in ",
        "a",
        "the page the page ",
        "403 ",
        "…",
    ],
)
def test_hostile_texts_are_judged_at_once(unit: str) -> None:
    started = time.monotonic()
    doubt(unit * (5990 // len(unit.encode())), unit * 500, unit * 3000)
    assert time.monotonic() - started < 5

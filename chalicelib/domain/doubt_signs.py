"""What pages say that are no documents: the words of challenges, logins, error pages and the like, by language.

A sign is a line that says nothing else (the parts of a title count as lines), or a sentence that hardly anything but
such a page says. These are the words; whether a sign counts is for `doubtful` to judge.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple


class Doubt(StrEnum):
    """Why a text is kept aside."""

    BOT_CHALLENGE = "bot_challenge"
    CAPTIVE_PORTAL = "captive_portal"
    CONSENT_WALL = "consent_wall"
    ERROR_PAGE = "error_page"
    LOGIN_PAGE = "login_page"
    MAINTENANCE = "maintenance"
    MOVED_SITE = "moved_site"
    NEEDS_SCRIPT = "needs_script"
    PARKED_DOMAIN = "parked_domain"
    PLACEHOLDER = "placeholder"
    REGION_BLOCKED = "region_blocked"
    SHRUNK = "shrunk"
    SOFT_404 = "soft_404"


class Signs(NamedTuple):
    """Patterns for whole lines near the top, and for sentences anywhere."""

    lines: re.Pattern[str]
    sentences: re.Pattern[str]


def _compiled(alternatives: tuple[str, ...], frame: str = "{}") -> re.Pattern[str]:
    pattern = frame.format("(?:" + "|".join(alternatives or (r"(?!)",)) + ")").replace("'", "['’]")
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def _lines(*alternatives: str) -> re.Pattern[str]:
    return _compiled(alternatives, r"^[^\w\n]*+{}[^\w\n]*+$")


def _signs(lines: tuple[str, ...] = (), sentences: tuple[str, ...] = ()) -> Signs:
    return Signs(_lines(*lines), _compiled(sentences))


_OOPS = r"^(?:(?:we(?:'re| are) sorry|sorry|oops|whoops|uh[- ]?oh|hm+|ouch)\W+(?:but )?)*"
_IS_GONE = (
    r"(?:(?:could|can|was|is)(?: ?not|n't|'t) (?:be )?found|(?:does not|doesn't) exist"
    r"|(?:no longer|not) (?:exists?|available|here)|(?:has|have|was) (?:been )?(?:moved|removed|deleted)\b)"
)
_PAGE = r"\b(?:page|url|document|resource|article)\b"

SIGNS: dict[Doubt, Signs] = {
    Doubt.BOT_CHALLENGE: _signs(
        lines=(
            r"just a moment|(?:one moment,? )?please wait|one moment,? please",
            r"(?:nur )?einen moment(?:,? bitte)?|un instant",
            r"un momento|um momento|ci siamo quasi|even geduld|chwileczkę|один момент",
            r"しばらくお待ちください|请稍候|請稍候|잠시만 기다리십시오",
            r"attention required|access (?:to this page )?(?:has been |was )?(?:denied|blocked)",
            r"zugriff verweigert|accès refusé",
            r"(?:human|security) (?:verification|check(?:point)?)|robot check|are you (?:a )?(?:human|robot)|captcha",
            r"vercel security checkpoint|making sure you're not a bot",
            r"pardon our interruption|ddos-guard|bot verification",
            r"(?:sorry, )?you have been blocked|you've been blocked(?: by network security)?|one more step",
        ),
        sentences=(
            r"checking (?:if the site connection is secure|your browser (?:before|to make sure)|your browser\.\.\.)",
            r"verif(?:y|ying|ies)(?: that)? you(?:'re| are) (?:not a (?:ro)?bot|(?:a )?human)",
            r"we(?:'re| are) verifying your browser",
            r"needs to review the security of your connection",
            r"confirm (?:that )?you(?:'re| are) (?:not a (?:ro)?bot|(?:a )?human)",
            r"enable javascript and cookies to continue|enable js and disable any ad ?blocker",
            r"\breference #\s?[0-9a-f]+\.[0-9a-f]+\.[0-9a-f.]+",
            r"incapsula incident id|cloudflare ray id|your support id is",
            r"press (?:&|and) hold to confirm|unusual traffic from your computer network",
            r"enter the characters you see below",
            r"as you were browsing,? something about your browser made us think|make sure you're not a robot",
            r"bestätigen sie,? dass sie (?:ein mensch|kein roboter) sind|überprüfung ihres browsers",
            r"vérifi(?:ez|er) que vous êtes (?:un )?humain|verifique que (?:usted )?es un ser humano",
            r"confirme que (?:você )?é humano|verifica di essere umano|подтвердите, что вы (?:человек|не робот)",
            r"请(?:验证|確認|确认)您是真人|確認您是真人|人間であることを確認|사람인지 확인",
        ),
    ),
    Doubt.CAPTIVE_PORTAL: _signs(
        lines=(
            r"(?:.{0,30} )?(?:wi-?fi|hotspot) (?:login|log-?in|access)|captive portal",
            r"network (?:log|sign)[ -]?in|network authentication required",
        ),
        sentences=(
            r"(?:log|sign) ?in to (?:this|the|your) (?:network|wi-?fi|hotspot)|log in to the network before you can",
            r"to (?:access|use) (?:the internet|(?:this|our) (?:free |guest )?wi-?fi)\b.{0,60}(?:accept|agree|log)",
            r"web ?page blocked|fortiguard intrusion prevention",
            r"blocked by your (?:network |system |it )?administrator",
            r"(?:in|bei) diesem netzwerk anmelden",
            r"connectez-vous (?:au|à ce) réseau|iniciar sesión en (?:la|esta) red",
        ),
    ),
    Doubt.CONSENT_WALL: _signs(
        lines=(
            r"before you continue(?: to .{1,30})?",
            r"bevor (?:du|sie) .{0,20}(?:fortf|weiterg)\w+|avant d'accéder à .{1,30}",
            r"antes de (?:continuar|ir) a .{1,30}|prima di continuare su .{1,30}",
        ),
    ),
    Doubt.SOFT_404: _signs(
        lines=(
            r"(?:(?:error|fehler|erreur|errore|ошибка|http)\W*)?404(?:\W*(?:error|fehler))?",
            r"(?:(?:error|http)\W*)?(?:404\W+)?(?:(?:page|file|document|article|content) )?not found(?:[^\w\n]+404)?",
            r"error 404 \(not found\)!*1?|no such page|page (?:unavailable|missing|does(?:n't| not) exist)",
            r"(?:404\W+)?(?:die |diese )?seite (?:wurde )?(?:leider )?nicht (?:gefunden|vorhanden)(?:[^\w\n]+404)?",
            r"(?:die|diese) seite (?:existiert|gibt es) (?:leider )?nicht(?: mehr)?|nicht gefunden",
            r"(?:404\W+)?(?:la |cette )?page (?:est )?(?:introuvable|non trouvée|n'existe p(?:as|lus))(?:[^\w\n]+404)?",
            r"(?:404\W+)?p[áa]gina (?:no|não) encontrada(?:[^\w\n]+404)?|(?:la |esta |a )?p[áa]gina (?:no|não) existe",
            r"(?:404\W+)?pagina (?:non trovata|niet gevonden)",
            r"(?:la |questa |deze )?pagina (?:non esiste|bestaat niet)",
            r"nie znaleziono strony|strona nie istnieje",
            r"sidan (?:kunde inte hittas|hittades inte)|siden (?:ble|blev) ikke fun\w+",
            r"(?:404\W+)?страница не (?:найдена|существует)|такой страницы (?:не существует|нет)|sayfa bulunamadı",
            r"stránka nenalezena|(?:404\W+)?(?:お探しの)?ページ(?:が|は)(?:見つかりません(?:でした)?|存在しません)",
            r"(?:404\W+)?(?:您访问的)?(?:页面|頁面|网页|網頁)(?:不存在|未找到|找不到了?)|找不到(?:该|此|您.{0,6}的)?(?:页面|網頁|頁面)",
            r"(?:404\W+)?페이지를 찾을 수 없습니다",
        ),
        sentences=(
            _OOPS + r"(?:the|this|that|it|we)\b[^.\n]{0,50}" + _PAGE + r"[^.\n]{0,80}" + _IS_GONE,
            _OOPS
            + r"(?:we|i) (?:can't|couldn't|cannot|could not|can not)(?: seem to)? find (?:the|that|this|a) "
            + _PAGE,
            r"^the requested url \S+ was not found on this server",
            r"^(?:die|diese|leider)[^.\n]{0,30} seite[^.\n]{0,60}(?:nicht (?:gefunden|mehr verfügbar)|existiert nicht)",
            r"^(?:désolé\W+)?la page (?:que vous|demandée)[^.\n]{0,60}(?:n'existe|introuvable|pas été trouvée)",
            r"^(?:lo sentimos\W+)?la página que[^.\n]{0,60} no (?:existe|se (?:ha encontrado|encuentra))",
            r"there isn't a github pages site here|the specified (?:bucket|key) does not exist",
        ),
    ),
    Doubt.ERROR_PAGE: _signs(
        lines=(
            r"(?:(?:http|error)\W*)*50\d|(?:(?:http|error)\W*)*(?:50\d\W+)?(?:internal )?server error(?:\W+50\d)?",
            r"(?:50\d\W+)?(?:bad gateway|service (?:temporarily )?unavailable|gateway time-?out)",
            r"(?:(?:error )?403\W+)?forbidden|(?:(?:error )?401\W+)?(?:unauthori[sz]ed|authorization required)",
            r"(?:(?:error )?429\W+)?too many requests",
            r"(?:(?:error )?400\W+)?bad request|database (?:connection )?error",
            r"whitelabel error page|runtime error|(?:oops\W+)?something went wrong",
            r"(?:an )?(?:unexpected |unknown )?error occurred",
            r"(?:oops|error|fehler|erreur|errore)|(?:interner )?serverfehler|erreur interne(?: du serveur)?",
            r"error interno del servidor|erro interno do servidor|внутренняя ошибка сервера",
            r"内部服务器错误|內部伺服器錯誤",
        ),
        sentences=(
            r"error establishing a database connection|^(?:php )?(?:fatal|parse) error: .{0,300} on line \d+",
            r"^warning: \w+\(\).{0,300} on line \d+",
            r"application error: a (?:client|server)-side exception has occurred",
            r"the server encountered an internal error|server error in '/.{0,20}' application",
            r"you don't have permission to access .{0,150}on this server|the requested url was rejected",
            r"exceeded a (?:secondary )?rate limit",
        ),
    ),
    Doubt.MAINTENANCE: _signs(
        lines=(
            r"(?:site |website )?(?:under |down for |in )?maintenance(?: mode)?|(?:scheduled|planned) maintenance",
            r"(?:we'll |we will )?be (?:right )?back(?: soon| shortly)?|(?:wegen )?wartung(?:sarbeiten|smodus)?",
            r"(?:site )?en (?:cours de )?maintenance|maintenance en cours",
            r"(?:sitio )?en mantenimiento|(?:site )?em manutenção",
            r"(?:sito )?in manutenzione|onderhoud|ведутся технические работы|сайт на техническом обслуживании",
            r"(?:只今|ただいま|現在)?メンテナンス中(?:です)?|(?:系统|网站|網站)(?:正在)?(?:维护|維護)中?",
        ),
        sentences=(
            r"we(?:'ll| will) be (?:right )?back",
            r"(?:down|closed|offline|unavailable) for (?:\w+ )?(?:maintenance|upgrades?)\b",
            r"\b(?:is|are) (?:currently |temporarily )?(?:undergoing|under|performing) (?:\w+ )?maintenance",
            r"wegen wartungsarbeiten|wird (?:gerade |derzeit )?gewartet",
            r"est (?:actuellement )?en (?:cours de )?maintenance",
            r"está (?:actualmente |atualmente )?(?:en|em) (?:mantenimiento|manutenção)",
        ),
    ),
    Doubt.PARKED_DOMAIN: _signs(
        lines=(
            r"\S+\.\w{2,} (?:is|may be) (?:for sale|parked|available)",
            r"domain (?:parking|parked|for sale|expired)|parked domain",
            r"account suspended",
        ),
        sentences=(
            r"\bdomain (?:name )?(?:\S+ )?(?:is|may be|has been) (?:for sale|parked|available for purchase|expired)",
            r"\bdomain (?:name )?(?:\S+ )?(?:has )?expired|buy this domain",
            r"parked (?:for )?free|inquire about this domain",
            r"this account has been suspended|domain (?:\S+ )?(?:steht zum verkauf|ist geparkt)",
            r"domaine (?:\S+ )?est (?:à vendre|en vente)",
            r"dominio (?:\S+ )?está en venta|domínio (?:\S+ )?está à venda",
            r"домен (?:\S+ )?(?:продаётся|продается)|(?:此)?域名(?:正在)?出售",
        ),
    ),
    Doubt.PLACEHOLDER: _signs(
        lines=(
            r"apache2? (?:\w+ )?default page.{0,20}",
            r"welcome to (?:nginx|openresty|caddy).{0,20}|it works|iis windows(?: server)?",
            r"default (?:web ?site|plesk|web|server) page|(?:http server )?test page .{1,60}|under construction",
            r"(?:web(?:site)? )?coming soon|site not found|hier entsteht .{0,40}(?:präsenz|seite|website)",
            r"(?:site |page )?en construction|(?:sitio |página )?en construcción|baustelle",
        ),
        sentences=(r"if you (?:see|can read) this page, (?:it means )?(?:that )?the .{0,30}(?:web|http) ?server",),
    ),
    Doubt.REGION_BLOCKED: _signs(
        lines=(r"(?:451\W+)?unavailable (?:due to|for) legal reasons",),
        sentences=(
            r"(?:isn't|is not|not) (?:currently )?available (?:in|from) your (?:country|region|location)",
            r"in (?:ihrem|deinem) land nicht verfügbar|pas disponible dans votre (?:pays|région)",
            r"unavailable in (?:most )?european (?:countries|union)|no está disponible en (?:su|tu) (?:país|región)",
        ),
    ),
    Doubt.NEEDS_SCRIPT: _signs(
        lines=(
            r"loading(?: (?:the )?(?:page|content|application|app))?(?:,? please wait)?",
            r"wird geladen|chargement(?: en cours)?",
            r"cargando|carregando|caricamento(?: in corso)?|laden|загрузка|読み込み中|(?:正在)?加载中?|載入中",
        ),
        sentences=(
            r"\b(?:enable|activate|requires?|turn on|needs?) javascript",
            r"javascript (?:to be |is |must be )*(?:enabled|required|disabled)",
            r"javascript (?:zu )?(?:aktivieren|aktiviert)",
            r"activ(?:er|ez) (?:le )?javascript|(?:habilite|active|activa) javascript",
            r"(?:browser is (?:not|no longer) supported)|upgrade your browser",
            r"включите javascript|javascriptを有効|启用 ?javascript",
        ),
    ),
}

LOGIN = _lines(
    r"(?:please )?(?:sign|log)[ -]?(?:in|on)\b.{0,60}|login\b.{0,40}",
    r".{0,30} log ?in|welcome back|authentication required",
    r"einloggen|(?:bitte )?(?:hier )?anmelden|(?:bei .{1,30} )anmelden|anmeldung",
    r"(?:se )?connecter|connexion|connectez-vous.{0,40}|identifiez-vous|s'identifier",
    r"(?:iniciar|inicia|inicie) sesi[óo]n.{0,40}|acceder|ingresar",
    r"iniciar sessão|entrar|fazer login|accedi.{0,30}|accesso",
    r"inloggen|aanmelden|zaloguj(?: się)?|logowanie|logga in|log ind|logg inn|войти.{0,20}|вход.{0,20}|авторизация",
    r"giriş yap|přihlásit se|přihlášení|ログイン|サインイン|(?:用户)?登录|登入|登錄|로그인",
)
"""A line, or a part of a title, that asks to log in."""

FORM = {
    "password": _lines(
        r"(?:enter )?(?:your )?(?:password|passcode)\b.{0,12}",
        r"(?:ihr |dein )?(?:passwort|kennwort)\b.{0,12}|(?:mot de passe|contraseña|senha|wachtwoord|hasło)\b.{0,12}",
        r"(?:lösenord|adgangskode|passord|пароль|parola|şifre|heslo|パスワード|密码|密碼|비밀번호).{0,6}",
    ),
    "name": _lines(
        r"(?:enter )?(?:your )?(?:e-?mail|user ?name|phone|account id)\b.{0,30}",
        r"(?:benutzer(?:name|kennung)|usuario|usuário)\b.{0,30}",
        r"(?:nom d'utilisateur|adresse (?:e-?mail|électronique)|identifiant).{0,30}",
        r"(?:nombre de usuario|correo electrónico).{0,30}",
        r"(?:nome utente|gebruikersnaam|логин|имя пользователя|メールアドレス|ユーザー名|用户名|邮箱|手机号).{0,20}",
    ),
    "forgotten": _lines(
        r".{0,20}(?:forgot|can't (?:log|sign) in|can't access your account).{0,40}",
        r".{0,20}(?:lost your password|reset (?:your )?password).{0,40}",
        r".{0,30}(?:vergessen|oublié|olvid(?:ó|aste|ado)|esquec(?:eu|i)|dimenticat|vergeten|забыли|忘记|忘記|忘れ).{0,30}",
    ),
    "register": _lines(
        r".{0,30}(?:create (?:one|(?:an |your |a new |new )?account)|sign up|register|no account|new to).{0,40}",
        r".{0,30}(?:registrieren|konto erstellen|noch kein(?:en)? (?:konto|account)|créer un compte).{0,20}",
        r".{0,30}crear (?:una )?cuenta.{0,20}",
        r".{0,30}(?:regístrate|registrarse|criar (?:uma )?conta|registrati|registreren|зарегистр|регистрация).{0,30}",
        r".{0,10}(?:新規登録|注册|註冊|회원가입).{0,10}",
    ),
    "remember": _lines(
        r"(?:remember|keep me|stay signed|(?:angemeldet|eingeloggt) bleiben|se souvenir|rester connecté).{0,30}",
        r"recordar(?:me)?.{0,30}",
        r"(?:recuérdame|lembrar|mantenerme|mantieni|запомнить|记住|記住|自动登录|自動登入).{0,30}",
    ),
    "elsewhere": _lines(
        r".{0,12}(?:continue|sign in|log in|login|continuar) (?:with|using|con|com) .{1,30}",
        r".{0,12}(?:anmelden mit|mit .{1,30} anmelden|continuer avec|войти через).{0,30}",
        r"sso|single sign-on.{0,20}",
    ),
}
"""What a login form has, each on a line of its own."""

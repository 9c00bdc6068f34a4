"""Texts with secrets and texts that only look so: what the rules are measured on.

Secrets are drawn anew from a seed, so that none stands in this file. In a template ``⟦…⟧`` marks what must be found,
to the character, and ``{name}`` is drawn by the function of that name in DRAW. The look-alikes are everyday text that
public reports on secret scanners name as false alarms.
"""
# ruff: noqa: E501 - a line of a table is one text

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

HEX = "0123456789abcdef"
WORD = string.ascii_letters + string.digits
URL = WORD + "-_"
B64 = WORD + "+/"
BASE32 = string.ascii_uppercase + "234567"


class Example(NamedTuple):
    """A text, and the ranges in it that must go; none for a look-alike."""

    name: str
    text: str
    spans: tuple[tuple[int, int], ...] = ()


def _some(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def _mixed(rng: random.Random, length: int, alphabet: str = WORD) -> str:
    """Letters of both cases and digits for certain, as a generator of tokens gives in all but rare cases."""
    drawn = [rng.choice(string.ascii_lowercase), rng.choice(string.ascii_uppercase), rng.choice(string.digits)]
    drawn += rng.choices(alphabet, k=length - 3)
    rng.shuffle(drawn)
    return "".join(drawn)


def _password(rng: random.Random) -> str:
    return _mixed(rng, 9) + rng.choice("#*%!?^@~") + _mixed(rng, 7)


def _uuid(rng: random.Random) -> str:
    return "-".join(_some(rng, HEX, length) for length in (8, 4, 4, 4, 12))


def _pem_body(rng: random.Random, lines: int, end: str = "\n") -> str:
    return end.join(_some(rng, B64, 64) for _ in range(lines)) + end + _some(rng, B64, 30) + "=="


def _jwt(rng: random.Random) -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    claims = part('{"sub":"' + _some(rng, HEX, 12) + '","exp":1893456000}')
    return f"{part(chr(123) + chr(34) + 'alg' + chr(34) + ':' + chr(34) + 'HS256' + chr(34) + '}')}.{claims}.{_some(rng, URL, 43)}"


def _basic(rng: random.Random) -> str:
    return base64.b64encode(f"svc:{_mixed(rng, 14)}".encode()).decode()


DRAW: dict[str, Callable[[random.Random], str]] = {
    "password": _password,
    "plain": lambda rng: _mixed(rng, 14),
    "short": lambda rng: _some(rng, string.ascii_lowercase, 5) + _some(rng, string.digits, 3),
    "token": lambda rng: _mixed(rng, 32),
    "hex32": lambda rng: _some(rng, HEX, 32),
    "hex40": lambda rng: _some(rng, HEX, 40),
    "hex64": lambda rng: _some(rng, HEX, 64),
    "uuid": _uuid,
    "b64_40": lambda rng: _mixed(rng, 40, B64),
    "b64_44": lambda rng: _mixed(rng, 43, B64) + "=",
    "b64_88": lambda rng: _mixed(rng, 86, B64) + "==",
    "url43": lambda rng: _mixed(rng, 43, URL),
    "jwt": _jwt,
    "basic": _basic,
    "pem": lambda rng: _pem_body(rng, 8),
    "pem_escaped": lambda rng: _pem_body(rng, 8, "\\n"),
    "pem_joined": lambda rng: _pem_body(rng, 4, " "),
    "ghp": lambda rng: "ghp" + "_" + _mixed(rng, 36),
    "akia": lambda rng: "AKIA" + _some(rng, BASE32, 16),
    "openai": lambda rng: "sk" + "-" + _mixed(rng, 20) + "T3BlbkFJ" + _mixed(rng, 20),
    "anthropic": lambda rng: "sk" + "-ant-api03-" + _some(rng, URL, 93) + "AA",
    "digits10": lambda rng: _some(rng, "123456789", 10),
}

# Providers' own documents say what their tokens look like: a prefix, an alphabet, a length.
TOKENS: dict[str, tuple[str, str, int]] = {
    "aws id": ("AKIA", BASE32, 16),
    "aws temporary id": ("ASIA", BASE32, 16),
    "github classic": ("ghp" + "_", WORD, 36),
    "github oauth": ("gho" + "_", WORD, 36),
    "github user": ("ghu" + "_", WORD, 36),
    "github server": ("ghs" + "_", WORD, 36),
    "github refresh": ("ghr" + "_", WORD, 36),
    "github fine-grained": ("github" + "_pat_11A", WORD, 79),
    "gitlab personal": ("glpat" + "-", URL, 20),
    "gitlab deploy": ("gldt" + "-", URL, 20),
    "gitlab feed": ("glft" + "-", URL, 20),
    "gitlab trigger": ("glptt" + "-", HEX, 40),
    "gitlab registration": ("GR1348941", URL, 20),
    "openai service": ("sk" + "-svcacct-", URL, 120),
    "openai admin": ("sk" + "-admin-", URL, 120),
    "openrouter": ("sk" + "-or-v1-", HEX, 64),
    "deepseek": ("sk" + "-", HEX, 32),
    "google api": ("AIza" + "Sy", URL, 33),
    "google oauth secret": ("GOCSPX" + "-", URL, 28),
    "google oauth token": ("ya29" + ".a0A", URL, 120),
    "stripe test": ("sk" + "_test_", WORD, 24),
    "stripe restricted": ("rk" + "_live_", WORD, 24),
    "stripe webhook": ("whsec" + "_", WORD, 32),
    "sendgrid": ("SG" + "." + "aB3dE5gH7jK9mN1pQ3sT5w" + ".", URL, 43),
    "npm": ("npm" + "_", WORD, 36),
    "pypi": ("pypi" + "-AgEIcHlwaS5vcmc", URL, 150),
    "hugging face": ("hf" + "_", string.ascii_letters, 34),
    "docker": ("dckr" + "_pat_", URL, 27),
    "digitalocean": ("dop" + "_v1_", HEX, 64),
    "databricks": ("dapi", HEX, 32),
    "shopify": ("shpat" + "_", HEX, 32),
    "shopify secret": ("shpss" + "_", HEX, 32),
    "twilio": ("SK", HEX, 32),
    "mailgun": ("key" + "-", HEX, 32),
    "vault": ("hvs" + ".", URL, 95),
    "vault batch": ("hvb" + ".", URL, 150),
    "grafana service": ("glsa" + "_", WORD, 32),
    "grafana cloud": ("glc" + "_", B64, 100),
    "linear": ("lin" + "_api_", WORD, 40),
    "notion": ("ntn" + "_", WORD, 46),
    "notion old": ("secret" + "_", WORD, 43),
    "postman": ("PMAK" + "-" + "0123456789abcdef01234567" + "-", HEX, 34),
    "pulumi": ("pul" + "-", HEX, 40),
    "planetscale": ("pscale" + "_tkn_", URL, 43),
    "rubygems": ("rubygems" + "_", HEX, 48),
    "sentry": ("sntryu" + "_", HEX, 64),
    "square production": ("EAAA" + "l", URL, 59),
    "adafruit": ("aio" + "_", WORD, 28),
    "google hmac": ("GOOG" + "1E", BASE32, 55),
    "square": ("sq0atp" + "-", URL, 22),
    "facebook": ("EAA" + "C", WORD, 150),
    "atlassian": ("ATATT3" + "xFfGF0", URL, 180),
    "new relic": ("NRAK" + "-", string.ascii_uppercase + string.digits, 27),
    "airtable": ("pat" + "aB3dE5gH7jK9mN" + ".", HEX, 64),
    "heroku": ("HRKU" + "-AA", URL, 58),
    "supabase": ("sbp" + "_", HEX, 40),
    "replicate": ("r8" + "_", WORD, 37),
    "groq": ("gsk" + "_", WORD, 52),
    "perplexity": ("pplx" + "-", WORD, 48),
    "nvidia": ("nvapi" + "-", URL, 64),
    "tailscale": ("tskey" + "-auth-k", WORD, 40),
    "figma": ("figd" + "_", URL, 40),
    "dynatrace": ("dt0c01" + "." + "ABCDEFGHIJKLMNOPQRSTUVW1" + ".", string.ascii_uppercase + string.digits, 64),
    "doppler": ("dp" + ".pt.", WORD, 43),
    "dropbox": ("sl" + ".", URL, 135),
    "alibaba": ("LTAI" + "5t", WORD, 18),
    "resend": ("re" + "_" + "Ab12Cd34" + "_", WORD, 24),
    "age": ("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "artifactory": ("AKCp", WORD, 69),
    "circleci": ("CCIPAT" + "_", WORD, 62),
    "typeform": ("tfp" + "_", URL, 59),
    "typed slack bot": ("xoxb" + "-123456789012-1234567890123-", WORD, 24),
    "slack user": ("xoxp" + "-123456789012-123456789012-123456789012-", HEX, 32),
    "brevo": ("xkeysib" + "-" + "ab" * 32 + "-", WORD, 16),
    "langsmith": ("lsv2" + "_pt_" + "0123456789abcdef" * 2 + "_", HEX, 10),
}
AROUND = (
    "The key is ⟦{}⟧ and it was made in March.",
    "⟦{}⟧",
    'log: {{"line":"first\\n⟦{}⟧\\nlast"}}',
    "export TOKEN=⟦{}⟧\n",
    "Siehe `⟦{}⟧`, gültig bis Freitag.",
    "密钥是⟦{}⟧。请勿外传",
    "https://api.test/v1?key=⟦{}⟧&page=2",
    "<code>⟦{}⟧</code>",
    "Use **⟦{}⟧**, not the old one.",
    "&quot;⟦{}⟧&quot;",
)

SECRETS = r"""
env = DB_PASSWORD=⟦{password}⟧
env exported = export SMTP_PASS=⟦{password}⟧
env quoted = SECRET_KEY="⟦{token}⟧"
env single-quoted = DJANGO_SECRET_KEY='⟦{token}⟧'
env short = MYSQL_ROOT_PASSWORD=⟦{short}⟧
env lower = db_pass=⟦{plain}⟧
windows = set API_TOKEN=⟦{token}⟧
powershell = $env:GH_TOKEN = "⟦{token}⟧"
dockerfile = ENV DB_PASSWORD ⟦{plain}⟧
docker run = docker run -e POSTGRES_PASSWORD=⟦{password}⟧ -d postgres:16
fish = set -gx NPM_TOKEN ⟦{uuid}⟧
yaml = database:\n  user: app\n  password: ⟦{password}⟧\n  port: 5432
yaml quoted = admin_password: "⟦{password}⟧"
yaml single = clientSecret: '⟦{token}⟧'
yaml list = env:\n  - name: DB\n  - password: ⟦{plain}⟧
yaml block = api_token: |\n  ⟦{token}⟧\n
yaml with comment = password: ⟦{plain}⟧ # rotate in May
kubernetes value = - name: DB_PASSWORD\n  value: x\nstringData:\n  password: ⟦{plain}⟧
json = {{"user":"svc","password":"⟦{password}⟧","port":1}}
json pretty = {{\n  "api_key": "⟦{token}⟧",\n  "host": "a.test"\n}}
json camel = {{"accessToken":"⟦{token}⟧"}}
json escaped = "{{\"password\":\"⟦{plain}⟧\"}}"
json next line = {{"client_secret":\n    "⟦{token}⟧"}}
json refresh = {{"refresh_token":"⟦{url43}⟧"}}
toml = [db]\npassword = "⟦{password}⟧"
ini = [smtp]\nsmtp_password=⟦{plain}⟧
properties = spring.datasource.password=⟦{plain}⟧
properties colon = app.jwt.secret: ⟦{token}⟧
python = password = "⟦{password}⟧"
python dict = config["password"] = "⟦{password}⟧"
python call = client = Client(api_key="⟦{token}⟧")
python bytes = SECRET_KEY = b"⟦{token}⟧"
python compare = if token == "⟦{token}⟧":
python setdefault = os.environ.setdefault("DB_PASSWORD", "⟦{plain}⟧")
javascript = const apiKey = '⟦{token}⟧';
javascript object = {{ password: '⟦{password}⟧' }}
javascript fallback = const secret = process.env.SECRET || "⟦{token}⟧";
typescript = const token: string = "⟦{token}⟧";
php = $config['db_password'] = '⟦{password}⟧';
php arrow = 'password' => '⟦{password}⟧',
php define = define('DB_PASSWORD', '⟦{password}⟧');
ruby = password: "⟦{password}⟧",
go = password := "⟦{password}⟧"
java = props.setProperty("password", "⟦{plain}⟧");
csharp = var password = @"⟦{plain}⟧";
terraform = master_password = "⟦{plain}⟧"
xml = <password>⟦{password}⟧</password>
xml spaced = <apiKey>\n    ⟦{token}⟧\n</apiKey>
xml attribute = <db user="sa" password="⟦{plain}⟧"/>
xml key value = <add key="ApiKey" value="⟦{token}⟧" />
xml named = <property name="password" value="⟦{plain}⟧"/>
html escaped = {{&quot;password&quot;:&quot;⟦{plain}⟧&quot;}}
html escaped numeric = token=&#34;⟦{token}⟧&#34;
cli flag = deploy --password ⟦{plain}⟧ --host a.test
cli equals = deploy --api-key=⟦{token}⟧ --verbose
cli quoted = tool --token "⟦{token}⟧"
cli short dash = java -jar app.jar -password ⟦{plain}⟧
curl user = curl -u deploy:⟦{plain}⟧ https://ci.test/job/7
curl header = curl -H "Authorization: Bearer ⟦{token}⟧" https://api.test
curl api key = curl -H 'X-Api-Key: ⟦{token}⟧' https://api.test
mysql glued = mysql -u root -p⟦{plain}⟧ shop
sshpass = sshpass -p ⟦{plain}⟧ ssh root@host
redis cli = redis-cli -h cache -a ⟦{plain}⟧ ping
openssl = openssl rsa -in key.pem -passin pass:⟦{plain}⟧
header = Authorization: Bearer ⟦{token}⟧
header json = "Authorization": "Bearer ⟦{url43}⟧"
header token = Authorization: token ⟦{hex40}⟧
header bare = authorization: ⟦{token}⟧
header basic = Authorization: Basic ⟦{basic}⟧
header proxy = Proxy-Authorization: Basic ⟦{basic}⟧
header private = PRIVATE-TOKEN: ⟦{token}⟧
header azure = Ocp-Apim-Subscription-Key: ⟦{hex32}⟧
cookie = Cookie: theme=dark; sessionid=⟦{token}⟧; lang=de
set-cookie = Set-Cookie: auth_token=⟦{url43}⟧; HttpOnly
netrc = machine api.test login bob password ⟦{plain}⟧
netrc lines = machine api.test\n  login bob\n  password ⟦{plain}⟧
npmrc = //registry.test/:_authToken=⟦{uuid}⟧
npmrc basic = //registry.test/:_auth=⟦{basic}⟧
docker config = {{"auths":{{"r.test":{{"auth":"⟦{basic}⟧"}}}}}}
kube token = users:\n- name: ci\n  user:\n    token: ⟦{jwt}⟧
kube key = client-key-data: ⟦LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFb3dJQkFBS0NBUUVB{token}⟧
sql = ALTER USER app WITH PASSWORD '⟦{plain}⟧';
sql identified = CREATE USER 'app'@'%' IDENTIFIED BY '⟦{plain}⟧';
pg env = PGPASSWORD=⟦{plain}⟧ psql -h db
url postgres = postgres://app:⟦{plain}⟧@db.internal:5432/main
url postgresql = postgresql+asyncpg://app:⟦{password}⟧@10.0.0.4/main
url mysql = mysql://root:⟦{plain}⟧@localhost/shop
url mongo = mongodb+srv://app:⟦{plain}⟧@cluster0.test/db?retryWrites=true
url redis = redis://:⟦{plain}⟧@cache:6379/0
url rediss = rediss://default:⟦{token}⟧@cache.test:6380
url amqp = amqp://user:⟦{plain}⟧@mq/vhost
url ftp = ftp://bob:⟦{plain}⟧@files.test/x
url https = git clone https://bob:⟦{token}⟧@git.test/a.git
url oauth2 = https://oauth2:⟦{token}⟧@gitlab.test/a.git
url token user = https://⟦{hex40}⟧:x-oauth-basic@github.test/a.git
url words = mysql://app:⟦swordfish-blue⟧@db/x
url markdown = [db](postgres://app:⟦{plain}⟧@db/x)
url in quotes = "DATABASE_URL": "postgres://app:⟦{plain}⟧@db/x"
url percent = postgres://app:⟦p%40ss{plain}%2F⟧@db/x
jdbc = jdbc:postgresql://db/x?user=app&password=⟦{plain}⟧&ssl=true
jdbc oracle = jdbc:oracle:thin:scott/⟦{plain}⟧@//db:1521/x
mssql = Server=db;Database=x;User Id=sa;Password=⟦{password}⟧;Encrypt=true
mssql pwd = Server=db;Uid=sa;Pwd=⟦{plain}⟧;
clone with app token = git clone https://x-access-token:⟦{plain}⟧@github.com/a/b.git
ldap bindpw = ldap.bindpw=⟦{plain}⟧
azure storage = AccountName=acct;AccountKey=⟦{b64_88}⟧;EndpointSuffix=core.windows.net
azure bus = Endpoint=sb://x.servicebus.test/;SharedAccessKeyName=Root;SharedAccessKey=⟦{b64_44}⟧
azure sas = https://a.blob.core.windows.net/c/f?sv=2024-11-04&sr=b&sig=⟦{b64_40}%3D⟧&se=2027
azure secret = client secret is ⟦aB38Q~{token}xy⟧ for the app
aws secret = aws_secret_access_key = ⟦{b64_40}⟧
aws secret camel = "SecretAccessKey": "⟦{b64_40}⟧"
aws pair = ⟦{akia}⟧,⟦{b64_40}⟧
aws session = aws_session_token=⟦IQoJb3JpZ2luX2VjE{b64_88}{b64_40}⟧
aws presigned = https://b.s3.test/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=⟦{hex64}⟧
slack webhook = ⟦https://hooks.slack.com/services/T0123ABCD/B0123ABCD/{token}⟧
discord webhook = ⟦https://discord.com/api/webhooks/123456789012345678/{url43}{url43}⟧
telegram = bot token ⟦{digits10}:AA{token}Z⟧ for alerts
telegram url = https://api.telegram.org/bot⟦{digits10}:AA{token}Z⟧/getMe
discord bot = ⟦MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.{token}⟧
mailchimp = key ⟦{hex32}-us12⟧
terraform cloud = token ⟦aB3dE5gH7jK9mN.atlasv1.{url43}{token}⟧
jwt = Here it is: ⟦{jwt}⟧.
jwt in url = https://app.test/#access_token=⟦{jwt}⟧&state=1
pem = ⟦-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----⟧
pem legacy encrypted = ⟦-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n{pem}\n-----END RSA PRIVATE KEY-----⟧
pem dsa = a ⟦-----BEGIN DSA PRIVATE KEY-----\n{pem}\n-----END DSA PRIVATE KEY-----⟧ b
pem crlf = ⟦-----BEGIN PRIVATE KEY-----\r\n{pem}\r\n-----END PRIVATE KEY-----⟧
pem cut off = ⟦-----BEGIN OPENSSH PRIVATE KEY-----\n{pem}⟧
pem cut off in text = ⟦-----BEGIN EC PRIVATE KEY-----\n{pem}⟧\n\nThen the page ends.
pem in json = {{"type":"service_account","private_key":"⟦-----BEGIN PRIVATE KEY-----\\n{pem_escaped}\\n-----END PRIVATE KEY-----⟧\\n"}}
pem in one line = ⟦-----BEGIN PRIVATE KEY----- {pem_joined} -----END PRIVATE KEY-----⟧
pem indented = key: |\n  ⟦-----BEGIN PRIVATE KEY-----\n  {pem}\n  -----END PRIVATE KEY-----⟧\n
pgp = ⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{pem}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----⟧
ssh2 = ⟦---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{pem}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----⟧
jwk = {{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","d":"⟦{url43}⟧"}}
wireguard = [Interface]\nPrivateKey = ⟦{b64_44}⟧
prose password = The password is ⟦{password}⟧ until Friday.
prose password colon = Password: ⟦{password}⟧
prose password code = The password is `⟦{plain}⟧`.
prose bold = **Password:** ⟦{password}⟧
prose api key = My API key is ⟦{token}⟧, keep it safe.
prose german = Das Passwort lautet ⟦{password}⟧.
prose french = mot de passe : ⟦{password}⟧
prose spanish = La contraseña es ⟦{password}⟧
prose chinese = 密码：⟦{password}⟧
prose russian = пароль: ⟦{password}⟧
table = | user | password |\n| api token | ⟦{token}⟧ |
list = - Token: ⟦{token}⟧
typographic = Password: “⟦{plain}⟧”
no break = token:⟦{token}⟧
trailing dot = the token is ⟦{token}⟧.
two on a line = password=⟦{plain}⟧ token=⟦{token}⟧
emoji before = 🔑🔑 password: ⟦{password}⟧ 🔒
heroku = HEROKU_API_KEY=⟦{uuid}⟧
datadog = DD_API_KEY=⟦{hex32}⟧
cloudflare = CLOUDFLARE_API_TOKEN=⟦{url43}⟧
ssh passphrase = passphrase: ⟦{password}⟧
wifi = wpa_passphrase=⟦{plain}⟧
encryption key = ENCRYPTION_KEY=⟦{hex64}⟧
rails = secret_key_base: ⟦{hex64}{hex64}⟧
eth = PRIVATE_KEY=⟦0x{hex64}⟧
camel db = dbPassword=⟦{plain}⟧
digits = password = "⟦48151623⟧"
hunter = password = "⟦hunter2⟧"
symbols = DB_PASSWORD=⟦p@$$w0rd!x⟧
ansible = vars:\n  vault_db_password: "⟦{password}⟧"
helm = postgresql:\n  auth:\n    postgresPassword: ⟦{plain}⟧
gha = env:\n  DEPLOY_TOKEN: ⟦{token}⟧
compose = environment:\n  - MYSQL_PASSWORD=⟦{plain}⟧\n  - TZ=UTC
compose map = environment:\n  MINIO_SECRET_KEY: "⟦{token}⟧"
systemd = Environment="API_TOKEN=⟦{token}⟧"
systemd2 = Environment=DB_PASS=⟦{plain}⟧
nginx = proxy_set_header X-API-Key "⟦{token}⟧";
apache = SetEnv SECRET_KEY ⟦{token}⟧
wpconfig = define( 'AUTH_KEY', '⟦{url43}⟧' );
laravel = APP_KEY=base64:⟦{b64_44}⟧
rails yml = production:\n  secret_key_base: ⟦{hex64}⟧
gradle = signingConfig.storePassword = '⟦{plain}⟧'
gradle2 = storePassword "⟦{plain}⟧"
maven = <server><id>x</id><username>u</username><password>⟦{plain}⟧</password></server>
tomcat = <Resource name="jdbc/x" username="u" password="⟦{plain}⟧" url="jdbc:x"/>
spring yml = spring:\n  mail:\n    password: ⟦{password}⟧
appsettings = "Jwt": {{ "Secret": "⟦{token}⟧" }}
connstr json = "Default": "Server=tcp:x,1433;User ID=a;Password=⟦{plain}⟧;Encrypt=True"
ruby env = ENV['SECRET_TOKEN'] = '⟦{token}⟧'
perl = my $password = '⟦{plain}⟧';
lua = local token = "⟦{token}⟧"
kotlin = val apiKey = "⟦{token}⟧"
kotlin typed = private val apiKey: String = "⟦{token}⟧"
swift = let apiToken = "⟦{token}⟧"
rust = const API_KEY: &str = "⟦{token}⟧";
go struct = Config{{Password: "⟦{plain}⟧"}}
go const = const clientSecret = "⟦{token}⟧"
c define = #define WIFI_PASSWORD "⟦{plain}⟧"
arduino = const char* password = "⟦{plain}⟧";
batch = SET DB_PASSWORD=⟦{plain}⟧
ps secure = $p = ConvertTo-SecureString "⟦{plain}⟧" -AsPlainText -Force
az cli = az login --service-principal -u 3f2504e0 -p ⟦{token}⟧ --tenant x
docker login = docker login -u bob -p ⟦{plain}⟧ r.test
helm set = helm install x --set auth.password=⟦{plain}⟧
kubectl = kubectl create secret generic db --from-literal=password=⟦{plain}⟧
wget = wget --http-user=bob --http-password=⟦{plain}⟧ https://a.test
curl data = curl -d '{{"password":"⟦{plain}⟧"}}' https://a.test
curl form = curl -d "user=bob&password=⟦{plain}⟧" https://a.test
curl auth2 = curl --user "bob:⟦{password}⟧" https://a.test
curl trailing colon = curl https://api.stripe.com/v1/charges -u ⟦sk_test_{token}⟧:
query token = https://a.test/hook?token=⟦{token}⟧
query apikey = https://a.test/v1?apikey=⟦{hex32}⟧&q=1
query key amp = https://a.test/v1?x=1&amp;api_key=⟦{hex32}⟧
log = 2026-11-29 10:00:00 ERROR login failed password='⟦{password}⟧' user='bob'
dict repr = {{'user': 'bob', 'password': '⟦{password}⟧'}}
slack msg = hey, the wifi password is ⟦{password}⟧ :)
mail = Your temporary password is: ⟦{password}⟧
mail2 = Username: bob\nPassword: ⟦{plain}⟧\nURL: https://a.test
prose pw = pw: ⟦{password}⟧
creds slash = Login: bob / Password: ⟦{plain}⟧
md table = | Service | API key |\n|---|---|\n| Foo API key | ⟦{token}⟧ |
md table pw = | Password | `⟦{password}⟧` |
md code fence = ```\nexport SECRET=⟦{token}⟧\n```
md link = [api](https://a.test/?access_token=⟦{token}⟧)
html attr = <input name="password" value="⟦{password}⟧">
bearer lower = authorization: bearer ⟦{hex64}⟧
x-auth = X-Auth-Token: ⟦{hex32}⟧
x-vault = X-Vault-Token: ⟦{token}⟧
supabase jwt = SUPABASE_SERVICE_ROLE_KEY=⟦{jwt}⟧
terraformrc = credentials "app.terraform.io" {{\n  token = "⟦{token}⟧"\n}}
pypirc = [pypi]\nusername = __token__\npassword = ⟦{token}⟧
gitcred = https://bob:⟦{token}⟧@github.com
pgpass password colon = export PGPASSWORD='⟦{password}⟧'
utf = contraseña: "⟦{password}⟧"
jp = パスワード: ⟦{password}⟧
zh2 = 密码是⟦{password}⟧。
fullwidth = 密码＝⟦{password}⟧
korean = 비밀번호: ⟦{password}⟧
polish = hasło: ⟦{password}⟧
czech = Heslo je ⟦{password}⟧ a platí do pátku.
escaped quotes = "cmd": "login --password \"⟦{plain}⟧\""
yaml anchors = default: &d\n  password: ⟦{plain}⟧
json array = {{"tokens": ["x"], "token": "⟦{token}⟧"}}
dsn = dsn: "root:⟦{plain}⟧@tcp(127.0.0.1:3306)/db"
email smtp = EMAIL_HOST_PASSWORD = '⟦{plain}⟧'
vpn = psk: ⟦{password}⟧
ssid = SSID: Office / WPA2 key x, Passwort: ⟦{password}⟧
two = user: a, password: ⟦{plain}⟧, token: ⟦{token}⟧
inline yaml = {{user: bob, password: ⟦{plain}⟧, db: x}}
openai in url = https://a.test/#key=⟦{openai}⟧
anthropic key header = x-api-key: ⟦{anthropic}⟧
arrow = password → ⟦{password}⟧
dash = Password - ⟦{password}⟧
eq spaced = password   =   ⟦{plain}⟧
third a = My GitHub token: ⟦{ghp}⟧
third b = {{"aws":{{"key":"⟦{akia}⟧","secret":"⟦{b64_40}⟧"}}}}
third c = AWS_ACCESS_KEY_ID=⟦{akia}⟧\nAWS_SECRET_ACCESS_KEY=⟦{b64_40}⟧
third d = aws_access_key_id = ⟦{akia}⟧\naws_secret_access_key = ⟦{b64_40}⟧\nregion = eu-central-1
third e = TWILIO_AUTH_TOKEN=⟦{hex32}⟧
third f = twilio.auth_token: "⟦{hex32}⟧"
third g = SENTRY_AUTH_TOKEN=⟦{hex64}⟧
third h = Bearer ⟦{url43}⟧
third i = {{"headers":{{"Authorization":"Basic ⟦{basic}⟧"}}}}
third j = password=⟦{password}⟧\r\nuser=bob
third k = \tpassword: ⟦{password}⟧
third l = # old\npassword: ⟦{password}⟧  # new
third m = db.password = ⟦{password}⟧;
third n = "db_password" : "⟦{password}⟧" ,
third o = <entry key="password">⟦{password}⟧</entry>
third p = <Password value="⟦{password}⟧"/>
third q = &lt;password&gt;⟦{plain}⟧&lt;/password&gt;
third r = password%3D⟦{plain}⟧
third s = DATABASE_URL="postgresql://app:⟦{plain}⟧@db:5432/x?sslmode=require"
third t = postgres://app:⟦{plain}⟧@[2001:db8::1]:5432/x
third u = smtp://bob%40a.test:⟦{plain}⟧@mail.test:587
third v = sftp://bob:⟦{plain}⟧@files.test/in
third w = mysql://a:⟦{plain}⟧@h1,mysql://b:⟦{plain}⟧@h2
third x = Here is the key:\n⟦{openai}⟧\nUse it.
third y = sk-proj key is ⟦sk-proj-{url43}{token}9⟧.
third z = (⟦{ghp}⟧)
third aa = [⟦{ghp}⟧]
third ab = "⟦{ghp}⟧",
third ac = '⟦{ghp}⟧';
third ad = `⟦{ghp}⟧`
third ae = ⟦{ghp}⟧,⟦{ghp}⟧
third af = token=⟦{ghp}⟧&x=1
third ag = export GH=⟦{ghp}⟧;
third ah = ghp: ⟦{ghp}⟧!
third ai = first\t⟦{ghp}⟧\tlast
third aj = {{"log":"a\\t⟦{ghp}⟧\\r\\nb"}}
third ak = {{"log":"a\\u0022⟦{ghp}⟧\\u0022"}}
third al = “⟦{ghp}⟧”
third am = «⟦{ghp}⟧»
third an = …⟦{ghp}⟧…
third ao = 令牌⟦{ghp}⟧結束
third ap = токен: ⟦{ghp}⟧
third aq = > ⟦{ghp}⟧
third ar = * ⟦{ghp}⟧
third as = 1. ⟦{ghp}⟧
third at = |⟦{ghp}⟧|
third au = <b>⟦{ghp}⟧</b>
third av = https://⟦{ghp}⟧@github.com/a/b
third aw = https://⟦{ghp}⟧:x-oauth-basic@github.com/a/b
third ax = git remote add o https://bob:⟦{ghp}⟧@github.com/a
third ay = jwt=⟦{jwt}⟧;
third az = id_token: "⟦{jwt}⟧"
third ba = ⟦{jwt}⟧
third bb = Authorization:Bearer ⟦{jwt}⟧
third bc = "⟦-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----⟧"
third bd = KEY="⟦-----BEGIN PRIVATE KEY-----\\n{pem_escaped}\\n-----END PRIVATE KEY-----⟧\\n"
third be = > ⟦-----BEGIN OPENSSH PRIVATE KEY-----\n> {pem}\n> -----END OPENSSH PRIVATE KEY-----⟧
third bf = ⟦-----BEGIN PRIVATE KEY-----\\\\n{pem_escaped}\\\\n-----END PRIVATE KEY-----⟧
third bg = two ⟦-----BEGIN EC PRIVATE KEY-----\n{pem}\n-----END EC PRIVATE KEY-----⟧ and ⟦-----BEGIN EC PRIVATE KEY-----\n{pem}\n-----END EC PRIVATE KEY-----⟧
third bh = api_secret: ⟦{token}⟧
third bi = consumer_secret = '⟦{token}⟧'
third bj = oauth_token_secret="⟦{token}⟧"
third bk = client-secret: "⟦{uuid}⟧"
third bl = vault_token: ⟦s.{plain}aB3dE5gH7j⟧
third bm = VAULT_TOKEN=⟦{uuid}⟧
third bn = bot_token = "⟦{digits10}:AA{token}Z⟧"
third bo = MAILCHIMP_API_KEY=⟦{hex32}-us7⟧
third bp = smtp_password: '⟦{password}⟧'
third bq = ldap_bind_password: ⟦{password}⟧
third br = REDIS_PASSWORD=⟦{hex32}⟧
third bs = keystore.password=⟦{plain}⟧
third bt = ssl.key.password=⟦{plain}⟧
third bu = encryption_key: "⟦{b64_44}⟧"
third bv = signing_secret: ⟦{hex32}⟧
third bw = SLACK_SIGNING_SECRET=⟦{hex32}⟧
third bx = webhook_secret = "⟦{token}⟧"
third by = NEXTAUTH_SECRET=⟦{b64_44}⟧
third bz = SESSION_SECRET=⟦{hex64}⟧
third ca = COOKIE_KEY=x\nJWT_SECRET=⟦{token}⟧
third cb = private_token=⟦{token}⟧
third cc = $env:AZURE_CLIENT_SECRET='⟦aB38Q~{token}xy⟧'
third cd = key1: AccountKey=⟦{b64_88}⟧
third ce = BlobEndpoint=https://a.blob.core.windows.net/;SharedAccessSignature=sv=2024&sig=⟦{b64_40}%3D⟧
json escaped slashes = {{"url":"https:\\/\\/bob:⟦{token}⟧@git.test\\/a.git"}}
url in a query = https://sso.test/login?next=https%3A%2F%2Fbob%3A⟦{plain}⟧%40git.test%2Fa.git&x=1
url in a query low = next=https%3a%2f%2fbob%3a⟦{plain}⟧%40git.test
form encoded twice = body=user%3Dbob%26password%3D⟦{plain}⟧%26go%3D1
aws configure = aws configure set aws_secret_access_key ⟦{b64_40}⟧ --profile x
aws configure profile = aws configure set profile.prod.aws_secret_access_key ⟦{b64_40}⟧
nslcd = uri ldap://dir.test\nbindpw ⟦{password}⟧\nssl on
env of a container = env:\n  - name: DB_PASSWORD\n    value: "⟦{password}⟧"\n
env of a container bare = env:\n  - name: DB_PASSWORD\n    value: ⟦{plain}⟧\n
env of a task = {{"environment": [{{"name": "DB_PASSWORD", "value": "⟦{password}⟧"}}]}}
env of a task packed = [{{"name":"API_TOKEN","value":"⟦{token}⟧"}},{{"name":"PORT","value":"8080"}}]
stack parameter = [{{"ParameterKey": "DBPassword", "ParameterValue": "⟦{plain}⟧"}}]
terraform output = {{\n  "db_password": {{\n    "sensitive": true,\n    "type": "string",\n    "value": "⟦{plain}⟧"\n  }}\n}}
key vault = az keyvault secret set --vault-name v --name DbPassword --value "⟦{plain}⟧"
gh secret = gh secret set DB_PASSWORD --body ⟦{plain}⟧
"""

LOOKALIKES = r"""
uuid = Request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed twice.
uuid field = "request_id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
git sha = Fixed in 94b4521e0d49700ec3e3f812aaa2e6b008c8ef0e last week.
git short = see a1b2c3d and 9f8e7d6c5b4
sha512 = sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==
lock file = "integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
go sum = github.com/Azure/go-autorest/autorest/azure/auth v0.5.11 h1:P6bYXFoao05z5uhOQzbC3Qd8JqF3jUoocoTeIxkp2cA=
pip hash = --hash=sha256:b0dd5e2f5f0a5c1f3d6b1d9c1e1d8f9b0a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e
docker digest = postgres@sha256:4d8f1c2b3a4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a1f2e3d4c5b6a7f8e9d0c
md5sum = d41d8cd98f00b204e9800998ecf8427e  empty.txt
etag weak = ETag: W/"5f3a-18c2b7d9e40"
crc = crc32 0xdeadbeef
image = <img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==">
font = src: url(data:font/woff2;base64,d09GMgABAAAAAAPwAAoAAAAACFAAAAOlAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAABmAAgkIK)
certificate = -----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\nRTESMBAGA1UEChMJQmFsdGltb3JlMRMwEQYDVQQLEwpDeWJlclRydXN0MSIwIAYD\n-----END CERTIFICATE-----
public key = -----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9\nq9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==\n-----END PUBLIC KEY-----
pgp public = -----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBFVJ0xMBCADKOJ+vIYc3gJ1nD0uwQX9z0eCh4bQh9aCkQzDDC6PqQ0vVjhkp\n-----END PGP PUBLIC KEY BLOCK-----
pgp signature = -----BEGIN PGP SIGNATURE-----\n\niQEzBAABCAAdFiEEpgJVxZ3xWZ0hJqkM0kZq0v0T2xkFAmFzq2UACgkQ0kZq0v0T\n-----END PGP SIGNATURE-----
pem named = A file that starts with -----BEGIN RSA PRIVATE KEY----- is a private key.
pem named in code = if "-----BEGIN PRIVATE KEY-----" in text: raise Leak()
pem placeholder = -----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----
pem placeholder words = -----BEGIN RSA PRIVATE KEY-----\n<your key here>\n-----END RSA PRIVATE KEY-----
ssh public = ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDhA+17zYbT8o9QY1zQ3z3p4y9cXz9mVbW2v0b9w7z8y6x5w4v3u2t1s0r9q bob@host
ssh fingerprint = SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8 (ED25519)
known hosts = github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl
x509 serial = Serial Number: 04:92:7b:63:33:21:8a:aa:b0:75:1c:5b:4d:e5:0e:6f
mac = link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
ipv6 = inet6 2001:db8:85a3:8d3:1319:8a2e:370:7348/64
aws example id = AKIAIOSFODNN7EXAMPLE
aws example secret = aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
aws arn = arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf
aws arn assigned = secret_arn: arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf
aws arn as secret = DB_SECRET=arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf
aws role id = AROAJQABLZS4A3QDU576Q:session is in the log
s3 key = s3_key: uploads/2026/11/report-final-v2.pdf
placeholder your = API_KEY=your-api-key-here
placeholder upper = API_KEY=YOUR_API_KEY
placeholder angle = token: <token>
placeholder angle words = password=<your password>
placeholder brackets = password: [your-password]
placeholder curly = apiKey: "{api_key}"
placeholder x = api_key = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
placeholder X = OPENAI_API_KEY=sk-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
placeholder ghp = GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
placeholder github = ghp_yourPersonalAccessTokenGoesHere123456789
url in a query without password = https://sso.test/login?next=https%3A%2F%2Fgit.test%3A8443%2Fa%40b
url in a query of somebody = next=https%3A%2F%2Fbob%40git.test%2Fa.git
css anthropic = .sk-ant-design-button-primary-large-disabled { color: red }
url encoded mask = https://bob:%2A%2A%2A%2A%2A%2A%2A%2A@git.test/a.git
env of a container by reference = - name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: billing-db-2026\n      key: password
env of a container by template = - name: DB_PASSWORD\n  value: "{{ .Values.db.password }}"
env of a container by variable = - name: DB_PASSWORD\n  value: $(vault_db_password_2)
name and another value = {"name": "password", "value": "Password", "id": 48151623}
bindpw in words = bindpw is the option that holds it, in line 42 of nslcd.conf
config set = config set token-ttl 86400
placeholder anthropic = ANTHROPIC_API_KEY=sk-ant-api03-your-key-here
placeholder slack = SLACK_TOKEN=xoxb-your-slack-bot-token
placeholder slack dots = xoxb-... is the bot token
placeholder stripe = sk_live_your_key_here
placeholder stripe dots = sk_test_...
placeholder aws = AWS_ACCESS_KEY_ID=AKIAXXXXXXXXXXXXXXXX
placeholder google = AIza... keys belong in the vault
placeholder changeme = password: changeme
placeholder changeme env = DB_PASSWORD=change_me
placeholder example = SECRET_KEY=example-secret-key-1234567890
placeholder example json = {"password":"example123"}
placeholder dummy = token: dummy-token-1234567890abcd
placeholder todo = api_key: TODO
placeholder dots = password=...
placeholder ellipsis = token: abc…
placeholder stars short = password=***
placeholder bullets = Password: ••••••••
placeholder none = password = None
placeholder null = "password": null,
placeholder empty = PASSWORD=
placeholder empty quotes = "password": ""
placeholder true = "use_token": true
placeholder redacted = password: [REDACTED]
placeholder redacted word = token=REDACTED
placeholder same word = password=password
placeholder secret = SECRET=secret
placeholder insert = token = "INSERT_TOKEN_HERE"
placeholder replace = api_key: REPLACE_WITH_YOUR_KEY
placeholder percent = password=%DB_PASSWORD%
marker before = password=[REDACTED:password] and [REDACTED:github_token]
marker url = https://deploy:[REDACTED:url_credentials]@ci.test/
template shell = password=$DB_PASSWORD
template braces = password=${DB_PASSWORD:-default}
template shell call = TOKEN=$(cat /run/secrets/token)
template backtick = TOKEN=`vault read -field=token secret/x`
template jinja = password: "{{ lookup('env', 'DB_PASSWORD') }}"
template helm = password: {{ .Values.db.password | quote }}
template github = token: ${{ secrets.GITHUB_TOKEN }}
template erb = password: <%= ENV['DB_PASSWORD'] %>
template python = password=%(password)s
template format = f"password={password}"
template terraform = password = var.db_password
template terraform data = password = data.aws_secretsmanager_secret_version.db.secret_string
template cloudformation = Password: !Ref DbPassword
template cloudformation sub = Secret: !Sub '{{resolve:secretsmanager:${DbSecret}:SecretString:password}}'
template resolve = MasterUserPassword: '{{resolve:secretsmanager:MyRDSSecret:SecretString:password}}'
template url = postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/main
template url angle = https://<user>:<password>@host.test/
template url words = postgres://user:password@localhost:5432/mydb
template url upper = mysql://USER:PASSWORD@HOST:3306/DB
template url stars = redis://:****@cache:6379
template url x = https://user:xxxx@host.test
template url env = amqp://$RABBIT_USER:$RABBIT_PASS@mq
default url = amqp://guest:guest@localhost:5672/
default postgres = postgres://postgres:postgres@localhost:5432/postgres
reference op = password: op://vault/db/password
reference vault = secret: vault:secret/data/db#password
reference ssm = token: ssm:/prod/api/token
reference file = password_file: /run/secrets/db_password
reference path = secret: /run/secrets/db_password
reference path key = ssh_key: ~/.ssh/id_ed25519
reference relative = private_key: ./certs/server.key
reference gcp = secret: projects/123/secrets/db-pass/versions/latest
reference keyvault = token: https://my-vault.vault.azure.net/secrets/token
reference sops = password: ENC[AES256_GCM,data:p673w==,iv:YY=,aad:UQ=,tag:A=]
reference ansible = password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  62313365396662343061393464336163383764373764613633653634306231386433626436623361
kubernetes ref = valueFrom:\n  secretKeyRef:\n    name: db-credentials\n    key: password
kubernetes tls = secretName: wildcard-example-com-tls
kubernetes type = type: kubernetes.io/service-account-token
kubernetes mount = tokenPath: /var/run/secrets/kubernetes.io/serviceaccount/token
code environ = password = os.environ["DB_PASSWORD"]
code getenv = api_key = os.getenv("API_KEY")
code node = const token = process.env.GITHUB_TOKEN;
code java = String password = System.getenv("DB_PASSWORD");
code call = token = secrets.token_hex(16)
code call two = owner_token = secrets.token_urlsafe(32)
code method = access_token = self.signing_key.sign(claims)
code await = const token = await getToken();
code input = password = getpass.getpass("Password: ")
code kwarg = connect(user=user, password=password, host=host)
code kwarg two = connect(user=db_user, password=db_password)
code signature = def login(user: str, password: str, token: str | None = None) -> bool:
code typescript = interface Login { password: string; token?: string; apiKey: string }
code rust = pub struct Config { pub password: String, pub secret: Option<String> }
code go = Password string `json:"password"`
code java field = private String clientSecret;
code sql column = password VARCHAR(255) NOT NULL, token CHAR(64)
code sql bind = WHERE password = :password AND token = ?
code sql param = UPDATE users SET password = $1 WHERE id = $2
code regex = PASSWORD_RE = re.compile(r"password=\S+")
code test = assert response.json()["token"] == expected_token
code null check = if (password === null || token === undefined) return;
code length = if len(password) < 8: raise ValueError("password too short")
code tokenizer = tokens = tokenizer.encode(text)
code fts = tokenize='porter unicode61'
code lexer = Token(type=TokenType.IDENTIFIER, value=name)
code csharp = public string Password { get; set; }
code css class = <div class="sk-fading-circle sk-circle-bounce-delay-1234">
code html input = <input type="password" name="password" placeholder="Enter password">
code html label = <label for="password">Password</label>
code csrf = <input type="hidden" name="csrf_token" value="aB3dE5gH7jK9mN1pQ3sT5wX7zA9cE1gI">
code docs link = https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/managing-your-personal-access-tokens
code import = from app.security import password_hasher, token_service
code i18n = {"password":"Passwort","forgotPassword":"Passwort vergessen?","token":"Zugangstoken"}
code i18n french = "password": "Mot de passe", "passwordConfirm": "Confirmez le mot de passe"
code openapi = password: { type: string, format: password, minLength: 8 }
code json schema = "password": {"type": "string"}
code enum = grant_type=password&client_id=web
code oauth = "token_type": "Bearer", "expires_in": 3600
code max tokens = max_tokens: 4096, prompt_tokens=1024
code special tokens = "eos_token": "<|endoftext|>", "pad_token": "[PAD]", "token_id": 50256
code next token = "next_page_token": "CAESBgoEMTIzNBgBIhYKFAoSMTIzNDU2Nzg5MDEyMzQ1Njc4"
code continuation = continuationToken=eyJvZmZzZXQiOjEwMDAsImxpbWl0IjoxMDB9
code idempotency = Idempotency-Key: 8e03978e-40d5-43e8-bc93-6894a57f9324
code cache key = cache_key: user-1234-profile-v2-3f2a9b8c7d6e5f4a
code primary key = PRIMARY KEY (id), FOREIGN KEY (token_id) REFERENCES tokens(id)
code partition key = partition_key: 2026-11-29#eu-central-1#a1b2c3d4e5f6
code public key token = PublicKeyToken=b77a5c561934e089, Version=4.0.0.0
code stripe publishable = pk_live_51H8x2eKZvKYlo2C9aB3dE5gH7jK9mN1pQ3
code recaptcha = data-sitekey="6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI"
code analytics = gtag('config', 'G-1A2B3C4D5E'); UA-12345678-1
code oauth client = 123456789012-a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6.apps.googleusercontent.com
code sentry = SENTRY_DSN=https://3f2a9b8c7d6e5f4a1b2c3d4e5f6a7b8c@o123456.ingest.sentry.io/4501234567890
code password hash = password_hash: $2b$12$KIXQJ9z8v7u6t5s4r3q2p1O0n9m8l7k6j5i4h3g2f1e0d9c8b7a6
code crypt = bob:$6$rounds=5000$saltsalt$aB3dE5gH7jK9mN1pQ3sT5wX7zA9cE1gIkMoQsUwYaCeGiK:19000:0:99999:7:::
code bcrypt assigned = password: $2y$10$abcdefghijklmnopqrstuuW5Qd3kL9mN1pQ3sT5wX7zA9cE1gIkM
code argon = password = "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$aB3dE5gH7jK9mN1pQ3sT5w"
code django hash = password='pbkdf2_sha256$600000$salt$aB3dE5gH7jK9mN1pQ3sT5wX7zA9cE1gI='
code algorithm = secret: sha256, token: HS256, password: bcrypt12
code version = token: v1.2.3-rc.4
code date = password_changed: 2026-11-29T10:15:30Z
code date token = token: 2026-11-29T10:15:30Z
code count = token: 4096
code port = secret: 8443
code phone = token 1-800-555-0199
code windows path = C:\Users\bob\secrets\token.txt
code package = implementation 'io.jsonwebtoken:jjwt-api:0.12.6'
code maven = <artifactId>spring-security-oauth2-token-exchange</artifactId>
code swift = key-value store with secret-sharing and token-bucket algorithms
code k8s label = secret.reloader.stakater.com/reload: "db-credentials-v2"
code terraform resource = resource "aws_secretsmanager_secret" "db_password" { name = "prod-db-password" }
code feature flag = ENABLE_PASSWORD_RESET=true
code ttl = token_ttl=3600 access_token_lifetime: 15m
code bool = password_protected: yes
code header names = Access-Control-Allow-Headers: Authorization, X-Api-Key, X-Csrf-Token
code www-authenticate = WWW-Authenticate: Bearer realm="https://auth.test/token",service="registry"
code bearer doc = Send an Authorization: Bearer <token> header with each request.
code bearer doc words = authorization: bearer your-access-token-goes-here
code basic doc = Authorization: Basic <base64(user:password)>
code basic placeholder = Authorization: Basic dXNlcjpwYXNzd29yZA==
code chown = docker run -u 1000:1000 -v /data:/data app
code chown group = chown -R www-data:www-data /var/www
code cp = cp -u source:file target
code mysql prompt = mysql -u root -p shop
code mysql port = mysql -h db -P 3306 --protocol=tcp
code scp = scp bob@host.test:/var/log/app.log .
code git ssh = git@github.com:larder/larder.git
code time = at 10:15:30 the job user:4711@queue stopped
code email = mailto:bob@example.test?subject=token%20reset
code ratio = image sizes 16:9@2x and 4:3@1x
code twitter = https://social.test/@bob/112345678901234567
code maps = https://maps.test/place/@52.5200066,13.404954,17z
code npm scope = https://registry.test/@scope/pkg/-/pkg-1.0.0.tgz
code metrics = http://metrics.internal:9090/api/v1/query?query=up@1700000000
code youtube = https://video.test/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf
code linear slug = https://linear.test/issue/EVE-1053/ask-user-capability-contract-schema-and-knowledge-spec
code risk slug = /blog/risk-assessment-2026-for-disk-encryption-and-task-scheduling-with-desk-12345
code slovak = lang="sk-SK" and sk-1234567890-abc
code dna = >seq1 ACGTTGCAAGGCTTAACCGGTTAACGATCGATCGGATCCTTAGCGATCGATTACGGCATCGAT
code protein = MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV
code ulid = 01ARZ3NDEKTSV4RRFFQ69G5FAV
code nanoid = order V1StGXR8_Z5jdHi6B-myT shipped
code cid = QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKCF9r
code btc = Donate: bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq
code eth = token contract 0xdAC17F958D2ee523a2206206994597C13D831ec7
code eth named = token: 0xdAC17F958D2ee523a2206206994597C13D831ec7
code iban = IBAN GB29 NWBK 6016 1331 9268 19
code isbn = ISBN 978-3-16-148410-0
code card = 4111 1111 1111 1111
code vin = VIN 1HGBH41JXMN109186
code tracking = Tracking 1Z999AA10123456784
code licence = SPDX-License-Identifier: (MIT OR Apache-2.0)
code base64 text = VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw==
code hexdump = 0000000 feed face cafe babe 0001 0203 0405 0607
code colour = --token-color: #a1b2c3; background: #deadbe
code design token = $token-spacing-large: 24px;
code css var = --password-input-height: 2.5rem;
code svg = <path d="M10 20v-6h4v6h5v-8h3L12 3 2 12h3v8z" fill="#1a73e8"/>
code minified = !function(e,t){var n=e.token,r=t.password;return n&&r?n+r:null}(a,b);
code webpack = "main.3f2a9b8c7d6e5f4a1b2c.chunk.js"
code query = SELECT password_hash, token_version FROM users WHERE id = 42
code log = 2026-11-29 10:15:30,123 INFO token refreshed for user 4711 in 35ms
code stack = at com.acme.security.TokenAuthenticationFilter.doFilterInternal(TokenAuthenticationFilter.java:57)
code class name = JwtTokenAuthenticationProviderConfigurationProperties
code constant = INVALID_PASSWORD_ERROR_CODE = "ERR_INVALID_PASSWORD_1042"
code error code = secret_error: E_SECRET_NOT_FOUND_404
code hash name = token_sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
prose password = The password must have at least 12 characters, one digit and one sign.
prose password is = The password is case-sensitive and expires after 90 days.
prose password colon = Password: at least 8 characters
prose password rule = Password: min. 8-64 characters, a-z, A-Z and 0-9
prose forgot = Forgot your password? Use the link: it works for 24 hours.
prose everyone = The password: everyone forgets it, so the reset link is used a lot.
prose token = As a token of appreciation the team got a day off.
prose tokens = Tokens: what they are, and why 4096 of them fit.
prose token ring = Token: a ring network from 1984 by IBM
prose secret = The secret: slow-cooked onions and 2 hours of patience.
prose secret is = The secret is well-kept since 1887.
prose santa = Secret Santa: Friday, 4pm, room B12-west
prose key = Key: Am7 D9 Gmaj7
prose auth = Auth: organisation-wide single-sign-on, no local accounts.
prose german = Das Passwort ist mindestens 12 Zeichen lang und läuft nach 90 Tagen ab.
prose german noun = Passwort: Rechtschreibprüfung eingeschaltet
prose french = Le mot de passe est obligatoire pour 2026.
prose chinese = 密码：请联系管理员重置，有效期为24小时。
prose japanese = パスワード：8文字以上で入力してください
prose spanish = La contraseña es obligatoria desde 2025.
prose credentials = Credentials: see the runbook, section 4.2
prose api key = An API key is required; ask in #platform-help.
prose api key list = API key: Settings > Developer > Keys
prose bearer = The bearer of this letter-of-recommendation-2026 may enter.
prose basic = Basic information about the authorization server follows.
prose authorization = Authorization: signed by the head-of-department-2026 on Friday
prose pass = Pass: 128 tests, fail: 3
prose pw = PW 2026-11: production window
prose table = | Field | Type |\n| password | string |\n| token | varchar(64) |
prose table words = | Secret | Owner |\n| db-credentials | platform-team |
prose cookie = Cookie: a small text file that a site stores for 30 days.
prose room = Room token A12, badge 4711, desk 17
more 000 = The Secret Garden (1911) is a novel; ISBN 978-0-00-000000-2.
more 001 = Password-protected PDF, 12 pages, A4
more 002 = "passwordStrength": "medium", "passwordMinLength": 12
more 003 = token_bucket = TokenBucket(rate=100, capacity=200)
more 004 = const { token, secret } = useAuth();
more 005 = <TextField label="Password" type="password" autoComplete="current-password" />
more 006 = {t("auth.password.reset.title")}
more 007 = password: yup.string().min(8).required("Password is required")
more 008 = this.password = password;
more 009 = $password = $_POST['password'];
more 010 = @Value("${db.password}") private String password;
more 011 = password = config.get("db", "password")
more 012 = export API_KEY="$(pass show api/key)"
more 013 = apiKey: import.meta.env.VITE_API_KEY,
more 014 = secret = kms.decrypt(CiphertextBlob=blob)["Plaintext"]
more 015 = Authorization: `Bearer ${token}`,
more 016 = headers: { Authorization: 'Bearer ' + accessToken }
more 017 = "Authorization": "Bearer {{access_token}}"
more 018 = assert token.kind == TokenKind.STRING_LITERAL_2
more 019 = tokens per second: 1,024; context window 128k
more 020 = gpt-4o-mini-2024-07-18 has a 128000 token limit
more 021 = Model: claude-3-5-sonnet-20241022, max_tokens: 8192
more 022 = commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904 (empty tree)
more 023 = Merge pull request #123 from bob/feature/token-refresh-v2
more 024 = sha1-2jCcwmPfFZlMaIypAheco8fNfH4=
more 025 = "resolved": "https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz#65ff91f4abef1784697d40952bb1998c504caaf3"
more 026 = version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
more 027 = <meta name="google-site-verification" content="aB3dE5gH7jK9mN1pQ3sT5wX7zA9cE1gIkMoQsUwYaCe">
more 028 = <link rel="stylesheet" href="/static/app.3f2a9b8c.css" integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC" crossorigin="anonymous">
more 029 = Content-Security-Policy: script-src 'nonce-aB3dE5gH7jK9mN1pQ3sT5w=='
more 030 = X-Request-Id: 8f14e45fceea167a5a36dedd4bea2543
more 031 = traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
more 032 = uid=1000(bob) gid=1000(bob) groups=1000(bob),27(sudo)
more 033 = eyJ is how base64 of an open brace and quote begins
more 034 = DKIM-Signature: v=1; a=rsa-sha256; d=a.test; s=mail; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=abcDEF123
more 035 = v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7vbqajDhA17zYbT8o9QY1zQ3z3p4y9cXz9mVbW2v0b9w7z8y6x5w4v3u2t1s0r9q
more 036 = Set-Cookie: lang=de; Path=/; Max-Age=31536000
more 037 = Cookie: _ga=GA1.2.1234567890.1600000000; theme=dark
more 038 = client_id=aB3dE5gH7jK9mN1pQ3sT5wX7zA9cE1gI
more 039 = user_id: 507f1f77bcf86cd799439011
more 040 = account-id: 123456789012, region: eu-central-1
more 041 = kid: "2011-04-29-key-rotation-1"
more 042 = "kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc","e":"AQAB"
more 043 = -----BEGIN CERTIFICATE REQUEST-----\nMIICijCCAXICAQAwRTELMAkGA1UEBhMCQVUxEzARBgNVBAgMClNvbWUtU3RhdGUx\n-----END CERTIFICATE REQUEST-----
more 044 = Fingerprint: 9F:86:D0:81:88:4C:7D:65:9A:2F:EA:A0:C5:5A:D0:15:A3:BF:4F:1B
more 045 = gpg --recv-keys 0xA1B2C3D4E5F60718293A4B5C6D7E8F9012345678
more 046 = key id: 0x1234ABCD5678EF90
more 047 = Keyboard: QWERTZ-2024-Pro, key switches: MX-Brown-45g
more 048 = api_key_id: 42, api_key_name: "ci-deploy-key-2026"
more 049 = apiVersion: v1, kind: Secret, metadata: {name: db-credentials-v2}
more 050 = --set-file secret.values=./values/prod-secrets.yaml
more 051 = vault kv get -field=password secret/prod/db
more 052 = password: (min 12 chars)
more 053 = Password: ________________
more 054 = Password: ______
more 055 = Enter password:
more 056 = Password: [hidden]
more 057 = password=<redacted> token=<hidden>
more 058 = token=***REDACTED***
more 059 = password: "********" (8 characters)
more 060 = API_TOKEN=abc...xyz
more 061 = token: eyJ...
more 062 = sk-proj-************************************************
more 063 = AKIA****************
more 064 = ghp_************************************
more 065 = xoxb-000000000000-000000000000-xxxxxxxxxxxxxxxxxxxxxxxx
more 066 = SG.xxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
more 067 = https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX
more 068 = https://hooks.slack.com/services/YOUR/WEBHOOK/URL
more 069 = mongodb://<username>:<password>@cluster.test/db
more 070 = mongodb+srv://username:password@cluster.test/db
more 071 = postgres://user:pass@localhost/db
more 072 = postgresql://user:secret@localhost/db
more 073 = redis://:password@localhost:6379
more 074 = https://user:changeme@host.test/
more 075 = https://example.test:8443/@bob/status
more 076 = mailto:a@b.test, see http://a.test:80/x@y
more 077 = sip:bob:5060@a.test
more 078 = eslint-disable-next-line no-secrets/no-secrets
more 079 = rotate secrets every 90d; token TTL 15m; password history 24
more 080 = Der Token: eine Münze aus dem Jahr 1923.
more 081 = Le jeton (token) expire après 3600 secondes.
more 082 = secret: "my-tls-secret"
more 083 = tokenSecret: "github-token-secret-ref"
more 084 = existingSecret: postgres-credentials-v3
more 085 = passwordSecretRef: {name: db, key: password-2026}
more 086 = AWS_SECRET_ACCESS_KEY: ${{ secrets.AWS_SECRET_ACCESS_KEY }}
more 087 = client_secret=<CLIENT_SECRET>&grant_type=client_credentials
more 088 = data: {"grant_type":"refresh_token","client_id":"abc"}
more 089 = scope: "https://www.googleapis.com/auth/cloud-platform"
more 090 = auth: { type: "oauth2", flow: "authorizationCode" }
more 091 = auth_uri: https://accounts.google.com/o/oauth2/auth
more 092 = token_uri: "https://oauth2.googleapis.com/token"
more 093 = private_key_id: "3f2a9b8c7d6e5f4a1b2c3d4e5f6a7b8c9d0e1f2a"
more 094 = AccessKeyId=LTAI... is an example
more 095 = SECRET_KEY_BASE is missing for production
more 096 = "secretsmanager:GetSecretValue"
more 097 = aws secretsmanager get-secret-value --secret-id prod/db-credentials-2026
more 098 = gcloud secrets versions access latest --secret=db-password
more 099 = az keyvault secret show --name db-password --vault-name kv-prod-01
more 100 = kubectl get secret db-credentials -o jsonpath='{.data.password}' | base64 -d
more 101 = kubectl create secret generic db --from-file=password=./password.txt
more 102 = docker secret create db_password ./db_password.txt
more 103 = PASSWORD_FILE=/run/secrets/db_password
more 104 = password_encryption = scram-sha-256
more 105 = ssl_key = '/etc/ssl/private/server.key'
more 106 = private_key = "${path.module}/id_rsa"
more 107 = private_key = file("~/.ssh/id_rsa")
more 108 = password = random_password.db.result
more 109 = resource "random_password" "db" { length = 32 }
more 110 = PasswordAuthentication no
more 111 = PermitRootLogin without-password
more 112 = password requisite pam_pwquality.so retry=3 minlen=12
more 113 = bob ALL=(ALL) NOPASSWD: /usr/bin/systemctl restart app-v2
more 114 = Pass 1/3: 42 of 128 tests
more 115 = boarding pass: LH1234-A320-12B
more 116 = Season pass 2026/27: 1.299,00
more 117 = pass: true, score: 0.98765432
more 118 = bypass: 0x7fff5fbff8a0
more 119 = passes=3 bytes=48151623
more 120 = credential: see LDAP group cn=admins,ou=groups,dc=a,dc=test
more 121 = credentials: 'include'
more 122 = credentials: "same-origin",
more 123 = credentialsId: 'jenkins-github-ssh-2026'
more 124 = shared_secret_length: 256-bit
more 125 = secretName=tls-2026-cert
more 126 = Token count 48151623 exceeded
more 127 = "token": 48151623
more 128 = Ethereum token 0x6B175474E89094C44Da98b954EedeAC495271d0F (DAI)
more 129 = ERC20Token token = ERC20Token(0x6B175474E89094C44Da98b954EedeAC495271d0F);
third a = password reset token expired after 3600 seconds
third b = Reset password: https://a.test/reset
third c = The API key must be 32 characters long (A-Z, 0-9).
third d = api_key: str = Field(..., min_length=32)
third e = secret: bytes = field(default_factory=lambda: os.urandom(32))
third f = token: Annotated[str, Depends(oauth2_scheme)]
third g = password: SecretStr
third h = export const TOKEN_KEY = "auth_token_v2";
third i = localStorage.getItem("access_token")
third j = request.headers["X-Api-Key"] == settings.api_key
third k = self.assertEqual(user.password, "x")
third l = PASSWORD_RESET_TIMEOUT = 259200
third m = SECRET_KEY = env("SECRET_KEY")
third n = SECRET_KEY = os.environ.get("SECRET_KEY", "")
third o = token = jwt.encode(payload, key, algorithm="HS256")
third p = secret_access_key = session.get_credentials().secret_key
third q = if (!password || password.length < 8) return "Password too short (min. 8)";
third r = Token 'ghp_…' was revoked
third s = the pattern is ghp_[A-Za-z0-9]{36}
third t = AKIA[0-9A-Z]{16} matches an access key id
third u = keys start with sk_live_ or sk_test_
third v = xox[baprs]-[0-9a-zA-Z]{10,48}
third w = eyJhbGciOi... (truncated)
third x = -----BEGIN PGP MESSAGE-----\n\nhQEMA5oOlsKhYzwhAQf/Z2aT4W8pF9k2bJ3yG7m1vX5nQ0rS6tU8wE4iO2pA1sD3\n-----END PGP MESSAGE-----
third y = -----BEGIN DH PARAMETERS-----\nMIIBCAKCAQEA7vJ8x9W2bKp3mQ5nR7tY1uI4oP6aS8dF0gH2jK4lZ6xC8vB0nM3q\n-----END DH PARAMETERS-----
third z = -----BEGIN X509 CRL-----\nMIIBpzCBkAIBATANBgkqhkiG9w0BAQUFADBTMQswCQYDVQQGEwJVUzELMAkGA1UE\n-----END X509 CRL-----
third aa = ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=
third ab = SHA1: da39a3ee5e6b4b0d3255bfef95601890afd80709
third ac = blob 557db03de997c86a4a028e1ebd3a1ceb225be238
third ad = ami-0abcdef1234567890 in vpc-0a1b2c3d4e5f67890
third ae = trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7
third af = order 8f14e45f-ceea-467f-a0b6-1b3c5d7e9f20 was paid
third ag = build 20261129.4-a1b2c3d4e5
third ah = user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0
third ai = <img src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxMCI+PC9zdmc+">
code compares = if password1 != password2:
code names = fields = ('password1', 'password2')
sphinx default = class Form(password_validators=None)[source]
c prototype = xmlShellPwd		(xmlShellCtxtPtr ctxt)
anchor = tokenizers → fts5.html#tokenizers
yaml alias = password: *yaml_anchor
minified = t.password||n.secret}(a,b)
third aj = background:url("data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
third ak = M10.5 2.25a8.25 8.25 0 1 0 5.07 14.75l4.47 4.47 1.06-1.06-4.47-4.47A8.25 8.25 0 0 0 10.5 2.25z
third al = Version 5:27.3.1-1~ubuntu.24.04~noble of docker-ce
third am = nginx/1.27.3 OpenSSL/3.0.15 (2026-09-03)
third an = a1b2c3d4@mail.test wrote on 2026-11-29
third ao = Zoom: https://zoom.test/j/98765432101?pwd=placeholder
third ap = meeting passcode: see the invite
third aq = PIN: four digits; PUK: eight digits
third ar = Kennwort: frei wählbar, mindestens 10 Zeichen
third as = Wi-Fi: Gast, Passwort an der Rezeption (täglich neu)
third at = password: ask Marta
third au = Password: same as before
third av = Password: none
third aw = Password: not set
third ax = the secret key is kept in HSM slot-3
third ay = Secrets: rotated on 2026-11-01, next on 2027-02-01
third az = token-based-authentication-2026.pdf
third ba = auth: bearer, ttl: 15m, issuer: https://id.test
third bb = auth_method: scram-sha-256
third bc = "auth": "none"
third bd = "auth": {"type": "basic"}
third be = keys: ["id", "name"], key: "name"
third bf = sort_key=created_at&page=2
third bg = The key to success: 1% inspiration, 99% perspiration.
third bh = Key findings 2026: 42% growth
third bi = keyboard-interactive authentication is off
third bj = ssh-keygen -t ed25519 -C "bob@host" -f ~/.ssh/id_ed25519
third bk = openssl rand -hex 32 > secret.txt
third bl = API-2026-11-29 is the version header
third bm = API-REFERENCE-GUIDE-VERSION-2
third bn = SK hynix SK8000 chip
third bo = hf_hub_download(repo_id="a/b", filename="model.safetensors")
third bp = npm_config_registry=https://registry.npmjs.org/
third bq = re_compile_pattern_internal_v2_helper_function
third br = key-value-store-2026-benchmark-results
third bs = pat.match(line) or sat.solve(problem)
third bt = s.startswithPrefixOfSomething1
third bu = dose_response_curve_2026_final_v2
third bv = AQVN is a ticker; AKID, too
third bw = LTAI: long-term asset index 2026
third bx = sl.setSomethingVeryLongMethodNameHere(1).andAnother(2).andYetAnotherOne(3).thenFinally(4).withMoreAndMoreText()
third by = EAAC2026 conference in Lisbon
third bz = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
"""


def secrets(seed: int = 7) -> Iterator[Example]:
    """Every token in every surrounding, and every line of SECRETS, drawn from ``seed``."""
    rng = random.Random(seed)
    for name, (prefix, alphabet, length) in TOKENS.items():
        for number, around in enumerate(AROUND):
            tail = "_" + _some(rng, HEX, 8) if name == "grafana service" else ""
            yield _marked(f"{name} {number}", around.format(prefix + _drawn(rng, alphabet, length) + tail))
    for name, template in _lines(SECRETS):
        fields = {field: draw(rng) for field, draw in DRAW.items() if "{" + field + "}" in template}
        yield _marked(name, template.format(**fields))


def lookalikes() -> Iterator[Example]:
    """Every line of LOOKALIKES."""
    for name, text in _lines(LOOKALIKES):
        yield Example(name, text)


def _drawn(rng: random.Random, alphabet: str, length: int) -> str:
    """Drawn again until there is a digit and a letter, and no sign at the ends, where a sentence would have it."""
    while True:
        drawn = _some(rng, alphabet, length)
        digits = alphabet.isalpha() or any(mark.isdigit() for mark in drawn)
        if digits and any(mark.isalpha() for mark in drawn) and drawn[0].isalnum() and drawn[-1].isalnum():
            return drawn


def _lines(table: str) -> Iterator[tuple[str, str]]:
    for line in filter(None, table.splitlines()):
        name, _, text = line.partition(" = ")
        # \n stands for a line end; \\n is a backslash and an n, as JSON has it.
        yield name, re.sub(r"\\(\\|n|r)", lambda mark: {"\\": "\\", "n": "\n", "r": "\r"}[mark.group(1)], text)


def _marked(name: str, text: str) -> Example:
    spans, plain = [], ""
    for piece in re.split("(⟦.*?⟧)", text, flags=re.DOTALL):
        if piece.startswith("⟦"):
            spans.append((len(plain), len(plain) + len(piece) - 2))
            piece = piece[1:-1]
        plain += piece
    return Example(name, plain, tuple(spans))


def hostile_texts(size: int) -> Iterator[tuple[str, str]]:
    """Texts of ``size`` characters that are made to cost time: what a rule begins with, over and over, and never ends."""
    rng = random.Random(11)
    starts = [prefix for prefix, _, _ in TOKENS.values()] + [
        "eyJ", "eyJaaaaaaaa.", "-eyJ", ".eyJ", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN ", "----", "LS0tLS1CRUdJTi",
        "PuTTY-User-Key-File-2: Private-Lines: 9 ", "://", "://a:", "://a:b@", "postgres://a:b", "postgres://a:b@", "@tcp(",
        "jdbc:oracle:thin:a/", "hooks.slack.com/services/", "discord.com/api/webhooks/", "sig=", "?sig=", "&amp;sig=", "password",
        "password=", "password: ", "password is ", "passwordpassword=", "<password>", "password(\"", "password=\"", "api_key", "key",
        "a_key", "token='", "token token ", "machine a login b password ", "authorization: basic ", "bearer ", "Cookie: a=", "arn:aws:secret:",
        "mysql ", "mysql -p", " login ", "-u a:", "--user ", "redis-cli ", "12345678:A", ":A", "Q~", "AZDO", "-us", "JQQJ9", "MTk4.",
        "pass", "auth", "\\", "\\n", "&#34;", "%20", "_", "-", ".", "=", " ", "\n", "a", "A", "1", "é", "密", "\"kty\"", "\"d\":\"", "|", "[", "$",
        "SharedAccessSignature ", "x.", "a-", "0", "f", "identified by ", "resolve:",
    ]  # fmt: skip
    for start in starts:
        yield repr(start), (start * (size // len(start) + 1))[:size]
    for number in range(20):
        mixture = "".join(rng.choices(starts, k=200))
        yield f"mixture {number}", (mixture * (size // len(mixture) + 1))[:size]
    for length in (10, 70, 500, 5000):
        yield f"random words of {length}", " ".join(_some(rng, URL + "=/+.:@", length) for _ in range(size // length))

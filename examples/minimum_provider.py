"""A whole knowledge provider of the standard library: PROVIDER_SECRET=... python examples/minimum_provider.py [port]"""

import hmac
import json
import os
import re
import sys
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer

PAGES = {"Hours": "Nine to five.", "Your password": "Reset it in the settings.", "A good password": "Make it long."}
SECRETS = os.environ.get("PROVIDER_SECRET", "").split()  # two of them while one is being rotated
SIGNATURE = re.compile(r"n=([\w-]{8,64}),t=(\d{1,10})((?:,v1=[^,]*){0,4})", re.ASCII)  # its parts sorted
SEEN: dict[str, int] = {}  # nonces, each with the time until which it is kept


def refuse(headers: Message, body: bytes) -> tuple[int, object] | None:
    if headers.get("X-Larder-Knowledge-Version") != "1":
        return 400, {"code": "unsupported_version"}
    header = headers.get("X-Larder-Signature", "")
    match = SIGNATURE.fullmatch(",".join(sorted(part.strip() for part in header.split(","))))
    if match is None or headers.get("X-Larder-Request") != match[1]:
        return (400, {"code": "invalid_request"}) if header else (401, {"code": "unauthorized"})
    nonce, t, given = match[1], match[2], match[3].split(",v1=")[1:]
    signed = f"{t}.{nonce}.".encode() + body  # the bytes as they came, never JSON that was written anew
    good = [hmac.digest(secret.encode(), signed, "sha256").hex().encode() for secret in SECRETS]
    if not any(hmac.compare_digest(one, value.encode()) for one in good for value in given):
        return 401, {"code": "unauthorized"}
    if abs(time.time() - int(t)) > 300:
        return 401, {"code": "stale_timestamp"}
    [SEEN.pop(old) for old, end in list(SEEN.items()) if end < time.time()]
    known, SEEN[nonce] = nonce in SEEN, int(t) + 301
    return (401, {"code": "replayed_nonce"}) if known else None


def answer(headers: Message, body: bytes) -> tuple[int, object]:
    try:
        asked = json.loads(body.decode()) if headers.get_content_type() == "application/json" else None
    except (ValueError, RecursionError):
        asked = None
    query, limit = (asked.get("query"), asked.get("limit", 10)) if isinstance(asked, dict) else (None, 10)
    if not isinstance(query, str) or not 0 < len(query) <= 1024 or type(limit) is not int or not 0 < limit <= 50:
        return 400, {"code": "invalid_request"}
    found = [(t, s) for t, s in PAGES.items() if any(word in f"{t} {s}".lower() for word in query.lower().split())]
    results = [{"documentId": t, "title": t, "snippet": s, "audience": "public"} for t, s in found[:limit]]
    return 200, {"contractVersion": 1, "results": results}


class Provider(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 65_536))  # more breaks the signature
        status, content = refuse(self.headers, body) or answer(self.headers, body)
        self.send_response(status)
        self.send_header("Content-Type", f"application/{'' if status == 200 else 'problem+'}json; charset=utf-8")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


HTTPServer(("127.0.0.1", int((sys.argv[1:] or ["8080"])[0])), Provider).serve_forever()

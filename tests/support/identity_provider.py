"""A correct OpenID Connect provider for tests: real HTTP, RS256 with real keys, PKCE and client secret checked.

Assistants register there as clients without a secret (RFC 7591) and get access tokens (RFC 9068) for the resource that
they name (RFC 8707).

    with identity_provider() as provider:
        provider.people["ann"] = Account(groups=["hr"])
        Settings(**provider.settings())

Attacks and faults are switched on by `lie`, which changes the claims of the next token, and `tamper`, which signs it.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "argot", "a secret: of + this/client"


@dataclass
class Account:
    """An account. `claims` are in every token; `groups` None omits that claim."""

    groups: Any = field(default_factory=list)
    claims: dict[str, Any] = field(default_factory=dict)
    disabled: bool = False


@dataclass
class Grant:
    """What a code stands for; `resource`: the audience of the access token, empty for one that is no JWT."""

    user: str
    nonce: str
    challenge: str
    back: str
    client: str = CLIENT
    resource: str = ""
    consented: bool = False


@dataclass
class IdentityProvider:
    url: str = ""
    people: dict[str, Account] = field(default_factory=dict)
    present: str = "ann"
    """Who is signed in there in a browser that comes."""
    keys: list[RSAKey] = field(default_factory=list)
    published: dict[str, Any] = field(default_factory=dict)
    grants: dict[str, Grant] = field(default_factory=dict)
    refreshing: dict[str, Grant] = field(default_factory=dict)
    clients: list[str] = field(default_factory=list)
    """Assistants that have registered."""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Path and form or query of every request."""
    down: bool = False
    delay: float = 0
    """Seconds before each answer."""
    skew: float = 0
    """Its clock is so many seconds ahead."""
    refreshes: bool = True
    refreshes_with_consent_alone: bool = False
    """As OpenID Connect Core has it (section 11), and providers built on `oidc-provider` do."""
    groups_in_token: bool = True
    lie: Callable[[dict[str, Any]], None] | None = None
    tamper: Callable[[dict[str, Any]], str] | None = None

    def settings(self, **more: Any) -> dict[str, Any]:
        given = {"oidc_issuer": self.url, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
        return {**given, "unknown_people": "create", **more}

    def rotate(self) -> None:
        self.keys = [RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig"})]

    def enter(self, entrance: str, user: str) -> str:
        """Sign in as a person does in a browser, and return the address of the redirect."""
        asked = dict(parse_qsl(urlsplit(entrance).query))
        assert entrance.startswith(f"{self.url}/authorize?")
        assert asked["client_id"] in (CLIENT, *self.clients) and asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256" and "openid" in asked["scope"].split()
        if self.people[user].disabled:
            return f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
        code = secrets.token_urlsafe(8)
        nonce, resource = asked.get("nonce", ""), asked.get("resource", "")
        consented = asked.get("prompt") == "consent"
        back, client = asked["redirect_uri"], asked["client_id"]
        grant = Grant(user, nonce, asked["code_challenge"], back, client, resource, consented)
        self.grants[code] = grant
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    # -- its endpoints ---------------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, given: dict[str, str], authorization: str) -> tuple[int, Any]:
        self.asked.append((path, given))
        time.sleep(self.delay)
        if self.down:
            return 503, "down for maintenance"
        if path == "/.well-known/openid-configuration":
            return 200, self.published
        if path == "/keys":
            return 200, {"keys": [key.as_dict(private=False) for key in self.keys]}
        if path == "/userinfo":
            user = unquote(authorization.removeprefix("Bearer at-"))
            return 200, {"sub": f"sub-{user}", **self._claims(user)}
        if path == "/register" and method == "POST":
            self.clients.append(f"assistant-{len(self.clients)}")
            return 201, {**given, "client_id": self.clients[-1]}
        if path == "/token" and method == "POST":
            return self._token(given, authorization)
        return 404, {"error": "not_found"}

    def _token(self, given: dict[str, str], authorization: str) -> tuple[int, Any]:
        client = given.get("client_id", "")
        if client not in self.clients:
            name, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
            client = unquote(name)
            if (client, unquote(secret)) != (CLIENT, SECRET):
                return 401, {"error": "invalid_client"}
        if given["grant_type"] == "refresh_token":
            # Rotated: each token is valid once.
            grant = self.refreshing.pop(given["refresh_token"], None)
            if not grant or grant.client != client or self.people[grant.user].disabled:
                return 400, {"error": "invalid_grant"}
            return 200, self._tokens(replace(grant, nonce=""))
        grant = self.grants.pop(given["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest()).rstrip(b"=")
        if not grant or grant.challenge != challenge.decode() or grant.back != given["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        return (200, self._tokens(grant)) if grant.client == client else (400, {"error": "invalid_grant"})

    def _tokens(self, grant: Grant) -> dict[str, Any]:
        user, now = grant.user, int(time.time() + self.skew)
        claims = {"iss": self.url, "sub": f"sub-{user}", "aud": grant.client, "iat": now, "exp": now + 300}
        claims["nonce"] = grant.nonce
        claims |= self._claims(user) if self.groups_in_token else {"preferred_username": user}
        if self.lie:
            self.lie(claims)
        sign = self.tamper or self.signed
        access = self.make_access_token(user, grant.resource, grant.client) if grant.resource else f"at-{user}"
        answer = {"access_token": access, "token_type": "Bearer", "id_token": sign(claims), "expires_in": 300}
        if self.refreshes and (grant.consented or not self.refreshes_with_consent_alone):
            answer["refresh_token"] = secrets.token_urlsafe(8)
            self.refreshing[answer["refresh_token"]] = grant
        return answer

    def make_access_token(self, user: str, audience: str, client: str = "assistant", **claims: Any) -> str:
        """Make a signed access token; a claim that is None is left out."""
        now = int(time.time() + self.skew)
        told = {
            "iss": self.url, "sub": f"sub-{user}", "aud": audience, "iat": now, "exp": now + 300, "client_id": client,
            "scope": "openid profile", **self._claims(user), **claims,
        }  # fmt: skip
        return self.signed({name: value for name, value in told.items() if value is not None})

    def _claims(self, user: str) -> dict[str, Any]:
        account = self.people[user]
        groups = {} if account.groups is None else {"groups": account.groups}
        return {"preferred_username": user, "name": user.title(), **groups, **account.claims}

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": self.keys[0].kid}, claims, self.keys[0])


@cache
def _first_key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})


@contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    made = IdentityProvider(keys=[_first_key()])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(dict(parse_qsl(urlsplit(self.path).query)))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.headers["Content-Type"] == "application/json":
                self._reply(json.loads(body))
                return
            self._reply({name: values[0] for name, values in parse_qs(body).items()})

        def _reply(self, given: dict[str, str]) -> None:
            path = urlsplit(self.path).path
            if path == "/authorize" and not made.down:
                self.send_response(303)
                self.send_header("Location", made.enter(made.url + self.path, made.present))
                self.end_headers()
                return
            if path == "/end":
                made.asked.append((path, given))
                self.send_response(303)
                self.send_header("Location", given["post_logout_redirect_uri"])
                self.end_headers()
                return
            code, answer = made.answer(self.command, path, given, self.headers.get("Authorization", ""))
            body = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    made.published = {
        "issuer": made.url,
        "authorization_endpoint": f"{made.url}/authorize",
        "token_endpoint": f"{made.url}/token",
        "jwks_uri": f"{made.url}/keys",
        "userinfo_endpoint": f"{made.url}/userinfo",
        "end_session_endpoint": f"{made.url}/end",
        "registration_endpoint": f"{made.url}/register",
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
    }
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()

"""Addresses and keys as they are shown: where they are, without what may be secret."""

import pytest

from argot.shown_addresses import HIDDEN_KEY, hide_key, hide_secrets


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://argot.example.com/v1", "https://argot.example.com/v1"),
        ("https://me:pw@a.example/v1", "https://***@a.example/v1"),
        ("https://me:p/w@x@a.example/v1", "https://***@a.example/v1"),
        ("postgresql+psycopg://me:pw@a.example/argot", "postgresql+psycopg://***@a.example/argot"),
        ("me:pw@a.example:9?key=pw", "***@a.example:9?***"),
        ("//me:pw@a.example", "//***@a.example"),
        ("https://a.example/v1?token=pw", "https://a.example/v1?***"),
        ("https://a.example/v1#pw", "https://a.example/v1?***"),
        ("https://a.example/v1;pw=x", "https://a.example/v1?***"),
        ("https://a.example/v1;pw=x/models", "https://a.example/v1?***"),
        ("https://a.example/#me@pw", "https://***"),
        ("https://a.example/v1?mail=me@a.example&token=pw", "https://***"),
        ("https://me:p?w@a.example", "https://***"),
        ("smtp://me:p;w@a.example", "smtp://***"),
        ("/dev/log", "/dev/log"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(address: str, shown: str) -> None:
    assert hide_secrets(address) == shown


@pytest.mark.parametrize(
    "place", ["public.pem", "keys/public.jwks", "/etc/argot/public", "~/public", "./public", r"C:\\keys\\public"]
)
def test_the_file_of_a_key_is_shown(place: str) -> None:
    assert hide_key(place) == place


def test_a_key_itself_is_not_shown() -> None:
    assert hide_key('{"kty": "OKP", "d": "c2VjcmV0", "kid": "a.pem"}') == HIDDEN_KEY
    assert hide_key("MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g") == HIDDEN_KEY
    assert hide_key("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw") == "-----BEGIN PRIVATE KEY-----\nMC ..."

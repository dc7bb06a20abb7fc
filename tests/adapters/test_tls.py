"""Mail over encryption and with a name and password, against a real server with a certificate of its own."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.adapters.calls import Call
from tests.adapters.far_sides import MailServer
from tools.adapters.base import Failed

LETTER = {"to": "ann@aldergate.example", "subject": "Notice", "text": "Dear Ann\n"}


def certificate(folder: Path, address: str) -> Path:
    """A key with a certificate for one address, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "far side")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{address}.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + made.public_bytes(pem))
    return path


def context(path: Path) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(path)
    return made


@pytest.fixture
def trusted(tmp_path, monkeypatch) -> Path:
    """A certificate that this process trusts."""
    path = certificate(tmp_path, "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    return path


@pytest.fixture
def serve(monkeypatch):
    """Starts a server and points EMAIL_URL at it; gives a call."""
    started: list[MailServer] = []

    def start(scheme: str, **options: ssl.SSLContext) -> Call:
        server = MailServer(**options)
        started.append(server)
        monkeypatch.setenv("EMAIL_URL", f"{scheme}127.0.0.1:{server.port}")
        return Call("smtp", server, {}, dict(LETTER), lambda: len(server.taken))

    yield start
    for server in started:
        server.stop()


def test_encryption_is_started_before_name_and_password_are_said(serve, trusted):
    call = serve("smtp+tls://ben:p%3Aw%20%40@", starttls=context(trusted))
    call()
    assert call.count() == 1
    assert call.far.signed_in == [(b"ben", b"p:w @")]


def test_a_wrong_password_is_known_not_to_have_happened(serve, trusted):
    call = serve("smtp+tls://ben:wrong@", starttls=context(trusted))
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == "smtp_refused"
    assert "wrong" not in failed.value.text
    assert call.count() == 0


def test_encryption_from_the_first_byte(serve, trusted):
    call = serve("smtps://", tls=context(trusted))
    call()
    assert call.count() == 1


@pytest.mark.parametrize("kind", ["starttls", "tls"])
def test_a_certificate_that_nobody_vouches_for_stops_the_mail(serve, tmp_path, kind):
    scheme = "smtps://" if kind == "tls" else "smtp+tls://ben:p%3Aw%20%40@"
    call = serve(scheme, **{kind: context(certificate(tmp_path, "127.0.0.1"))})
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == "tls_failed"
    assert call.far.signed_in == []
    assert call.count() == 0


def test_a_certificate_for_another_address_stops_the_mail(serve, tmp_path, monkeypatch):
    path = certificate(tmp_path, "127.0.0.2")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    call = serve("smtps://", tls=context(path))
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == "tls_failed"
    assert call.count() == 0

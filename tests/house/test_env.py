"""The environment is read strictly: every bad value is named, at once, in plain words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from config import env
from config.connections import artifact_storage, database, mail


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in (*env.ProcessEnv.model_fields, "countersign_pools", "countersign_lease_seconds"):
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return monkeypatch


def test_defaults_are_usable_but_not_for_serving(bare: pytest.MonkeyPatch) -> None:
    process, engine = env.load()
    assert process.port == 8000
    assert engine.lease_seconds == 10
    with pytest.raises(
        env.EnvError, match=r"DATABASE_URL, BROKER_URL, SECRET_KEY, AUDIT_KEYS not set. Nothing was started"
    ):
        env.require(process)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"),
        ("PORT", "0"),
        ("DATABASE_URL", "mysql://host/name"),
        ("DATABASE_URL", "postgresql://host:port/name"),
        ("BROKER_URL", "amqp://host"),
        ("CHANNEL_URL", "redis://"),
        ("EMAIL_URL", "host:25"),
        ("ARTIFACT_URL", "/srv/files"),
        ("PUBLIC_URL", "countersign.example"),
        ("ALLOWED_HOSTS", " , "),
        ("CSRF_TRUSTED_ORIGINS", "example.org"),
        ("DEBUG", "perhaps"),
        ("LOG_LEVEL", "LOUD"),
        ("COUNTERSIGN_POOLS", "io:1"),
        ("COUNTERSIGN_POOLS", "io:1:4,io:1:4"),
        ("COUNTERSIGN_POOLS", "gpu:1:4"),
        ("COUNTERSIGN_LEASE_SECONDS", "0"),
    ],
)
def test_a_bad_value_is_refused_by_name(bare: pytest.MonkeyPatch, name: str, value: str) -> None:
    bare.setenv(name, value)
    with pytest.raises(env.EnvError, match=name):
        env.load()


def test_all_bad_values_are_named_together(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("PORT", "eighty")
    bare.setenv("DEBUG", "perhaps")
    bare.setenv("COUNTERSIGN_CLAIM_BATCH", "0")
    with pytest.raises(env.EnvError) as refused:
        env.load()
    assert all(name in str(refused.value) for name in ("PORT", "DEBUG", "COUNTERSIGN_CLAIM_BATCH"))


def test_a_password_is_never_repeated_in_an_error(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("DATABASE_URL", "mysql://me:hunter2@host/name")
    with pytest.raises(env.EnvError) as refused:
        env.load()
    assert "hunter2" not in str(refused.value)


def test_a_running_house_lends_its_addresses(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = {"DATABASE_URL": "postgresql://kept@127.0.0.1:7/kept", "BROKER_URL": "redis://127.0.0.1:8/0"}
    (tmp_path / env.SERVERS_FILE).write_text(json.dumps(kept))
    bare.setenv("BROKER_URL", "redis://127.0.0.1:9/0")
    process, _ = env.load()
    assert process.database_url == kept["DATABASE_URL"]
    assert process.broker_url == "redis://127.0.0.1:9/0", "the environment comes first"


def test_addresses_become_connections(tmp_path: Path) -> None:
    configured = database("postgresql://me:p%40ss@db.example:5433/shop?sslmode=require", 7)
    assert (configured["USER"], configured["PASSWORD"], configured["PORT"]) == ("me", "p@ss", "5433")
    assert configured["OPTIONS"]["sslmode"] == "require"
    assert configured["OPTIONS"]["prepare_threshold"] == 3
    assert configured["OPTIONS"]["pool"]["max_size"] == 7
    assert mail("smtp+tls://me:pw@mail.example").port == 587
    assert mail("smtps://mail.example").ssl
    assert artifact_storage("", tmp_path)["OPTIONS"]["location"] == str(tmp_path / "artifacts")
    s3 = artifact_storage("s3://key:se%2Fcret@store.example:9000/files?tls=0&region=eu", tmp_path)["OPTIONS"]
    assert (s3["endpoint_url"], s3["bucket_name"]) == ("http://store.example:9000", "files")
    assert (s3["secret_key"], s3["region_name"]) == ("se/cret", "eu")

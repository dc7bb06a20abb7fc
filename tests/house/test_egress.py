"""Nothing of the product opens a connection past `tools.egress`, except towards what the installation itself names."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.needs import ROOT

ROOMS = ("accounts", "approvals", "config", "outbox", "runs", "tools")
#: Packages that can open connections, and calls of the event loop that do.
OPENERS = {
    "socket", "ssl", "http", "urllib", "urllib3", "httpx", "httpx2", "httpcore2", "requests", "aiohttp", "websockets", "smtplib", "imaplib",
    "poplib", "ftplib", "telnetlib", "xmlrpc", "paramiko", "boto3", "botocore",
}  # fmt: skip
CALLS = {"open_connection", "open_unix_connection", "create_connection", "create_datagram_endpoint"}
#: They only read and write addresses, or name status codes.
HARMLESS = ("urllib.parse", "http.HTTPStatus", "smtplib.SMTPException")
#: Where a tool or an agent runs, a database is a far side too.
FAR = ("tools/adapters/", "runs/agents/", "runs/documents/")

GATE = "this is the gate"
SOCKET = "takes every socket from the gate; the names are for its class and for types"
OWN = "between the node and its own children, over a socket pair"
SERVER = "the installation's own server, which its settings name"
ALLOWED = {
    "tools/egress.py": ({"socket", "ssl"}, GATE),
    "tools/drill_service.py": ({"open_connection"}, "the bench's own far side, at an address that only a bench sets"),
    "tools/web.py": ({"socket"}, SOCKET),
    "tools/mcp/http.py": ({"httpx2"}, "the SDK's client on a transport of ours, which asks `tools.web`"),
    "tools/adapters/smtp.py": ({"smtplib", "socket"}, SOCKET),
    "tools/adapters/sql_session.py": ({"psycopg"}, "the driver gets an address that the gate has checked"),
    "config/connections.py": ({"boto3", "botocore"}, SERVER),
    "config/embedded/ports.py": ({"socket"}, "finds a free port of this machine"),
    "config/up/start.py": ({"http"}, "asks the installation's own web process whether it is up"),
    "config/up/supervisor.py": ({"socket"}, "listens for the supervisor's own children"),
    "outbox/chat/line.py": ({"requests"}, "writes requests and names errors; what leaves goes through the gate"),
    "outbox/consumers/post.py": ({"smtplib"}, "names of errors; the mail goes through Django to the installation's own server"),
    "outbox/duties.py": ({"socket"}, "the name of this host"),
    "runs/node/child.py": ({"socket"}, OWN),
    "runs/node/child_cpu.py": ({"socket"}, OWN),
    "runs/node/child_io.py": ({"create_connection", "socket"}, OWN),
    "runs/node/children.py": ({"socket"}, OWN),
    "runs/node/leash.py": ({"socket"}, SERVER),
    "runs/node/node.py": ({"socket"}, "the name of this host"),
    "runs/node/wire.py": ({"socket"}, OWN),
}  # fmt: skip


def openers(path: Path) -> set[str]:
    """What a module has that could open a connection."""
    tree, name = ast.parse(path.read_text()), str(path.relative_to(ROOT))
    wanted = OPENERS | ({"psycopg"} if name.startswith(FAR) else set())
    found: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and node.attr in CALLS:
            found.add(node.attr)
        found |= {
            each.partition(".")[0]
            for each in names
            if each.partition(".")[0] in wanted and not each.startswith(HARMLESS)
        }
    return found


def test_c27_b76_nothing_but_egress_opens_connections():
    """Guards the rule of ``tools/egress.py``: no other module imports what could; whoever is excepted says why."""
    paths = [path for room in ROOMS for path in (ROOT / room).glob("**/*.py")]
    found = {str(path.relative_to(ROOT)): names for path in paths if (names := openers(path))}
    assert found == {name: names for name, (names, _) in ALLOWED.items()}


def test_c27_the_rule_sees_an_import_inside_a_function(tmp_path, monkeypatch):
    """The net has no hole where imports are usually hidden."""
    monkeypatch.setattr("tests.house.test_egress.ROOT", tmp_path)
    path = tmp_path / "tools" / "adapters" / "sly.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "def send():\n    import http.client\n    from psycopg import connect\n    loop.create_connection()\n"
    )
    assert openers(path) == {"http", "psycopg", "create_connection"}

"""The roof of the house: settings, urls, ASGI, the Celery app, wiring, and the servers of `make up`.

Owns: `settings` (one file, read from the environment by `env`), `urls`, `asgi`, `celery`, `wiring` (which
task a topic of the outbox rings, which adapters exist), `embedded` (PostgreSQL and Valkey from wheels),
`up` (the supervisor), `sink` (a mail server that stands in for the outside world) and `ui` (the parts that
pages are made of).
Words: *embedded* is a server that `make up` starts itself; *house* is one checkout with its `DATA_DIR`.
Dangers: everything may be imported from here, so nothing below may import from here (but for `ui`, which
knows no room). `up`, `embedded` and `sink` run before or beside Django and do not import the rooms.
Lock order: none of its own; `DATA_DIR/up.lock` is held by one supervisor at a time.
"""

"""PostgreSQL and Valkey out of Python wheels: for `make up` and for the tests, never for production.

Owns: the two server folders inside `DATA_DIR`, their passwords and their ports.
Words: *cluster* is PostgreSQL's folder; *runner* is the system account that PostgreSQL runs as when we are
root, because it refuses to run as root.
Dangers: a server that outlives its starter (each is bound to it by `process.bind`); a cluster below a folder
that the other user may not enter (`privileges` lends the right to look, and nothing changes a mode outside
`DATA_DIR`). Nothing here imports Django or a room.
Lock order: the caller holds the lock of the folder before it starts a server in it.
"""

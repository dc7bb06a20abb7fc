"""MCP servers: which ones this deployment starts, how one is talked to, and what its tools were when they were confirmed.
No Django; children of a node import it.

Words: *server* = a command that the deployment names (stdio) · *endpoint* = a server or an address · *definition* = what a
server says of one tool, pinned by the contract · *hint* = what it claims of it; a claim is no trust · *watch* = what is
known of the one ``tools/call`` of a session.

Dangers: a contract that brings a command of its own · a ``tools/call`` that is sent again by a library · a server process
that outlives its call · taking a server's word for what its tool does.
"""

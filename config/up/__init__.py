"""`make up`: one supervisor, all processes of the house as its children, everything gone when it goes.

Owns: `DATA_DIR` (its lock, its secrets and ports, the list of its processes), the order of start and stop,
and what a person reads in the terminal.
Words: *program* is what to run; *child* is a program that was started, perhaps again; *leftover* is a process
of a supervisor that was killed; *house* is one checkout with its `DATA_DIR`.
Dangers: it has one thread, because children are bound to the thread that made them and a fork beside other
threads can hang; so nothing in its loop may wait for long, least of all for a reader of its output.
Lock order: `DATA_DIR/up.lock` before anything else in that folder is read or written.
"""

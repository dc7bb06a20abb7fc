"""The bench: `python -m bench`, the full path of a step against servers of its own.

Owns: a throw-away PostgreSQL (with fsync, as in production) and Valkey, one node as it is deployed, and the measure of
what they do. `servers` starts them, `load` makes the work, `clocks` reads time, processor time and memory. Each measure is
a module with a function `measure(bench)` that `__main__` lists: `cycle` (steps without effects), `effects` (with `far_side`,
a service that counts what it is sent), `cancel`, `memory`.

Words: *throughput* is many runs at once; *latency* is one run alone, from one finished step to the next.

Dangers: a node left over from an earlier bench would take part in this one (every server here is a child bound to the
bench) · a machine is noisy by a third: only figures of one run compare.
"""

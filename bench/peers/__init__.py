"""The peers: other systems on the same work, beside ours, in one run (`python -m bench.peers`).

Owns: the scripts that speak to each peer (`work`, run by a Python of their own), the conductor that starts their processes
and holds the clocks (`conduct`, `meter`), who takes part (`systems`), our own side (`ours`), and the table.

Words: *many* is the same work for all: so many runs at once, each of so many steps in a row that do nothing, every step kept
before the next begins · *alone* is one run by itself · *recovery* is the time from a ``kill -9`` in the middle of a step to
the start of the next one · *waiting* is many runs that wait for a message, then get it one by one.

Rules of fairness: one PostgreSQL (fsync and synchronous_commit on) and one Valkey for all, one after the other · every peer
gets what was best for it in our trials: processes, pool, batch size · otherwise defaults, above all those that decide when a
dead worker's work is taken up again · the clock starts when all work is handed in and the workers are let go.

Dangers: a queue is not durable execution; the table says which is which · only figures of one run compare.
"""

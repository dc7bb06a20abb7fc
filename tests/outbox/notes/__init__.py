"""Notes to people: kinds, choices, digests, the bell, what was told."""

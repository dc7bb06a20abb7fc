"""Random stories against the real database: every verb of the engine, from two connections, with an oracle after each."""

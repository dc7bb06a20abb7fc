"""What administrators do with webhooks and dead letters, one file each. Every verb owns its transaction, asks the database
who won, and leaves an entry in the audit chain, the last row that it locks."""

"""The mail sink: a real SMTP server that stands in for the outside world of a house, with a page to look at.

Owns: one append-only file of deliveries. Every delivery that was answered with 250 is in it, also the second
and the third of the same message: the sink counts, it never tidies.
Words: *delivery* is one message that arrived once; *message* is all deliveries with one Message-ID.
Dangers: the product must never ask the sink, or a wrong count would prove nothing; so it offers no query by
key, and no room imports it. It has no accounts: it listens on 127.0.0.1 alone.
Lock order: the lock of `Store`, held for one append or one copy.
"""

"""Accounts: who people are, which tenant they belong to, what they may do, and the chain that remembers it.

Owns: Tenant, User, Membership, Invitation, ApiToken, RateWindow, AuditEntry, AuditHead; and, because every
other room stands on this one, the few things all rooms share: ids, tenant scope, canonical JSON, the table
of state arrows.

Words: *tenant* = a customer, the wall nothing leaks through · *membership* = a person in a tenant, with
roles · *role* = submitter, approver, administrator · *audit chain* = append-only entries, each holding the
hash of the one before.

Dangers: a query without a tenant (the default manager refuses it) · reading rights from the session instead
of at the moment of the act · two writers of one chain (the head row is locked).

Lock order: AuditHead is always the last row that a transaction locks.
"""

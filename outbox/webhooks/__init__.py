"""Webhooks, per Standard Webhooks (https://www.standardwebhooks.com): what a tenant's own systems are told.

Words: *endpoint* = an address of a tenant and what it wants to hear · *event* = a public fact, made from a message of the
outbox by what the roof registered (``events``) · *delivery* = one event for one endpoint · *attempt* = one POST of it.

A message becomes deliveries in one statement (``spread``), under the receipt of a unique pair. Couriers (``courier``) take
due deliveries as relays take messages: SKIP LOCKED, heads of their keys only, hidden while under way, noted afterwards. So
each arrives at least once, in order per subject; the same event always has the same ``webhook-id``.

Dangers: an address inside our own network (the way out is the one egress function, set by the roof) · one slow endpoint that
holds up the others (at most ``EACH`` at a time of one endpoint) · a secret in a log.
"""

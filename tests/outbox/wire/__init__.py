"""Processes of their own that stand outside: relays that may be killed, a receiver of webhooks, a mail server."""

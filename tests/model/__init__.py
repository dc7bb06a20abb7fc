"""The protocol in small, looked at from every side by a model checker."""

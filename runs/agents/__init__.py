"""Agents: pure functions from context to directives. One file or folder per agent.

An agent never touches the database, the network or a clock; it runs in a child process, against a version of the run.
This package imports neither Django nor Celery.
"""

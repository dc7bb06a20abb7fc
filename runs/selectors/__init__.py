"""All reads of the workshop for pages and REST, one file a noun.

Each is scoped by the tenant of the current scope, takes a number of queries that does not grow with the
number of rows, and decides nothing.
"""

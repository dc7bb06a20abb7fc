"""View models: plain dataclasses that the pages and fragments of runs are drawn from.

Rows in, words and instants out. Nothing here asks the database or decides anything; lengths of time stay
numbers, because the templates say them in the reader's language.
"""

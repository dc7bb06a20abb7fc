"""Evaluations: how well the agents do, measured on labelled data.

Owns: the scorers behind `make eval`. They alone read the labels; the agents never see them.

Dangers: a scorer that is kinder than its description. Locks: none, no database.
"""

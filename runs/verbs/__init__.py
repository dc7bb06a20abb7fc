"""Verbs of people over what a run made, one a file. The verbs that move a run are in ``runs.engine``."""

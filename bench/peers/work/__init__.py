"""One script per peer, run by the Python that has the peers; they import nothing of the house.

A script speaks lines of JSON: it says ``{"ready": true}``, reads one order a line (``{"do": "alone", "steps": 100}``) and
answers each with one line. Copy a sibling to add a peer, and name it in ``bench/peers/systems.py``.
"""

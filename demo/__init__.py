"""The main story, told at the terminal by somebody who stands outside: `make demo`.

Owns: the narration, the sample contracts it hands in, and a house of its own where none is running.
Words: *house* is a running Countersign; *observer* is the demo: it knows the REST interface, the page of the mail
sink and what `manage.py issue_token` prints, and imports nothing of the rooms.
Dangers: it really submits and really approves, so it works only in a house whose people are samples.
"""

"""The workbench: contracts of tools, the gate, and the proof that an effect happened at most once.

Owns: Tool, Contract, Intent, ResourceFence, WorkerProcess, Secret, StopSwitch, QuotaWindow.

Words: *contract* = the versioned declaration of a tool, published rows never change · *gate* = the pure
decision that a contract, its arguments and a run yield: automatic, approval, or blocked · *intent* = the
record that exists before an effect · *dispatch* = one permission to send, given by begin · *unknown* =
nobody can tell whether the effect happened · *sender* = the child process that sends; *gone* = proven
unable to send any more.

Doors: ``publish`` (contracts come into force) · ``intents`` and ``workers`` (the engine's verbs) ·
``selectors`` (reads) · ``previews`` (what a person sees) · ``adapters`` and ``toolbox`` (what children
call; no Django there, nor in ``egress``, ``mail``, ``drill``).

Dangers: sending without an intent · sending twice under one key because an old sender was only paused ·
taking a time-out for a failure · a second place that opens connections (egress is the one).

Lock order: Intent, ResourceFence, quota; after Run, Step and PendingAction.
"""

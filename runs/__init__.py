"""The workshop: runs, their steps, what they made, and the engine that moves them.

Owns: Run, Step, StepDependency, Artifact, Checkpoint, Event, Signal, FindingCorrection; the engine (one
verb a file), the planner, the node with its children, and the agents.

Words: *task* = what a person submits; *run* = one execution of it · *step*, *attempt* · *claim* = take a
lease and a new fence token · *commit* = record outcomes under that token · *quarantine* = what came too
late · *checkpoint*, *summary* · *event* = one line of a run's gapless, hash-chained history.

Dangers: acting on a stale read (every write that ends work compares owner and fence, or version, and reads
the row count) · tool or agent code in the process that keeps leases · a terminal state rewritten by a late
message · time taken from a host's clock instead of the database's.

Lock order: Run (in id order), Step, PendingAction, Intent, ResourceFence, quota, Message, audit head.
"""

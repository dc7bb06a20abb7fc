"""The node: a Celery solo worker whose main process keeps leases and never runs the code of tools or agents.

Owns: the threads of the main process and the child processes that execute.

Main process. `engine_threads`: results → commit → claim → send, and begin · `pump`: sockets and deaths of the children,
time limits, spawning · `keeper`: renews leases, hears of cancels, says that it lives · `watch`: one thread per peer on
this host, woken by the death of the last of its processes · `hints`: tells open pages that there is more to read.
Children, by pool. `io`: an event loop for asynchronous tools · `thread`: blocking tools · `cpu`: one step at a time with
limits of memory and time, killable. Blocking tools are apart from the loop because they would starve it.

Words: *board* = what the threads of main share, under one lock · *entry* = a step that a child holds · *question* = a
child that asks to begin an effect · *wall* = the time limit of a step · *stray* = a running step of this node that no
child holds (the answer to a claim was lost) · *leash* = the end to waiting for a server that says nothing · *terms* = how
long leases are and when they are renewed (`runs.leases`).

Dangers: a thread of main that dies while the others renew (each is guarded: an uncaught error ends the process) · a file
descriptor reused after a child's death (`dead` is looked at before any signal) · a child that outlives main (death
signal, set by the thread that lives as long as the process: only the pump spawns) · time: deadlines are on a clock that
runs through suspension (`clock.boot`), never on the wall clock.

Lock order: the board's lock is never held while the database or a socket could block; nothing takes a second lock in it.
`wire`, `work`, `clock`, `execute`, `planning`, `tool_context` and `child*` import neither Django nor Celery.
"""

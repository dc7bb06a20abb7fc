"""The workshop's REST door: agents, uploads, tasks, their steps, history and results. Every rule is in the verbs."""

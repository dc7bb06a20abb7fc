"""The workbench's REST door: which tools there are, and what the contract in force declares. It changes nothing: a contract
is written and published where its difference and its consequences are seen."""

"""Pages of administrators about tools. Every rule is in the verbs."""

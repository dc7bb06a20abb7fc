"""Marks the texts of agents for the collector of translations.

Agents run in children that know no Django, so this stands in for its function under the name that the collector
looks for. The English text travels with its code; the page says it in the reader's language
(``runs.present.agent_words``).
"""


def gettext_noop(text: str) -> str:
    """``text`` as it is."""
    return text

"""Template tags: ``{% load ui %}``."""

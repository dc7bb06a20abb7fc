"""Races that are staged, not hoped for."""

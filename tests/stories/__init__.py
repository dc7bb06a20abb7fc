"""Whole journeys from outside, in prose order."""

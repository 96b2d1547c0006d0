"""Faults by part of the program."""

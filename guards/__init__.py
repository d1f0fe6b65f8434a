"""Policies over structured reads, and what they do to texts."""

"""Exact rules: text in, spans out. Nothing here reads a model or knows a policy's actions."""

"""Rounds, control planes, child processes, tables and charts for the measures."""

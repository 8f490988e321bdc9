"""Fewer rules, premises and sets within a stated change of the outputs, and a report on what each step cost."""

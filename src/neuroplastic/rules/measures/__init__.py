"""Figures on rules: how readable they are, how alike sets are, and whether training again finds the same."""

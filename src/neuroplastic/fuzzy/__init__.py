"""Pure tensor mathematics of the paper: no modules, no I/O, no hidden randomness.

Letters: B batch, D condition attributes, T terms (fuzzy sets) of an attribute, U rules, O outputs.
"""

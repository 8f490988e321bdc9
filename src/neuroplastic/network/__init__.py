"""Modules built of the fuzzy mathematics: the network, its growth, hierarchies, encoders and heads."""

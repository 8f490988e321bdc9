"""What stands between observations and heads: the paper's convolutions, convolutions for any picture, named attributes.

Each configuration has `build(observation)`, which gives a module from observations (B, *shape) to features (B, D) with
an attribute `out_features`, and refuses by name an observation that it cannot take.
"""

"""What stands between observations and heads: the paper's convolutions, convolutions for any picture, the places of
things in it, named attributes.

Each configuration has `build(observation)`, which refuses by name an observation that it cannot take, and gives a
module from observations (B, *shape) to features (B, D) with an attribute `out_features`, and two methods:
`feature_names` says what features are called, `scaling` their offset and scale to units of people (None: they have
none). One that looks for things may have `points`, where in a picture features say they are, and `last_planes`, what
heat maps are made of.
"""

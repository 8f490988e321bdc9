"""Why a network answers as it does: rules that fired, parts that add up, what would change it, where in a picture."""

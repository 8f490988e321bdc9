"""What a person wants done, as functions that return plain results: front ends only ask, print and draw."""

"""Rules as sentences, both ways: written for people or in full, and read again as a rule base or a network."""

"""Dueling double Q-learning with experience replay and a target network."""

"""Q-learning in many games at once, with lambda-returns and without replay or target network."""

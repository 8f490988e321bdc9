"""Searches for hyperparameters: slots, workers, storage, search spaces; knows neither a game nor an algorithm."""

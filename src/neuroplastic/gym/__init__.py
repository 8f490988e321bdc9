"""Any Gymnasium environment with discrete actions as a task."""

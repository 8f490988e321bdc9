"""What a run is: its configuration, its trial, its folder; knows tasks and learners by small protocols only."""

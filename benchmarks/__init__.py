"""Ratios against peers and limits, one command: `python -m benchmarks`."""

"""The paper's trials: configurations and presets, the protocol, run folders."""

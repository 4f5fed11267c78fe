"""Benchmarks: each figure is a ratio against a peer or a floor of the same run. `python -m bench [NAME...]`."""

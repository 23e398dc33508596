"""Graphs and results: imports, vertex programs, estimates, plots and reports. What is public is in `outcore`."""

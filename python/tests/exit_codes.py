"""Exit codes of the command."""

# Those of refusals and failures; `test_errors.py` has the one of each kind.
REFUSED = range(1, 14)

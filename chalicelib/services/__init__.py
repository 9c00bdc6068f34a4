"""Use cases, and the only owners of transactions."""

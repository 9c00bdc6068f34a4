"""A site of our own, and the refresh cycle shown on it."""

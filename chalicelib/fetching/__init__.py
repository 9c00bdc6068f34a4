"""The guarded fetch, and text out of what it brings."""

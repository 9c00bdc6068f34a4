"""The local embedding model and its cache."""

"""Larder: a knowledge base whose documents go stale on purpose."""

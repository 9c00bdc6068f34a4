"""Schemas that are shipped, each written from the models of the code."""

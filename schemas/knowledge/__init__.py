"""The knowledge contract and its routes as JSON Schema (2020-12)."""

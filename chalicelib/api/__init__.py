"""The HTTP edge: one module a resource."""

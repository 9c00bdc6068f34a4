"""Every case of the libraries in tests/cases that needs no server, played."""

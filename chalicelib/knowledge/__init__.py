"""Knowledge providers: the wire contract, both sides of its signature, and the broker that asks many at once."""

"""The conformance suite: questions from outside that show whether a provider keeps the contract (spec 3.7)."""

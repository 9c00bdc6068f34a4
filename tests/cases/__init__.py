"""The case libraries and the players that run them: ``python -m tests.cases KIND FILE.jsonl``."""

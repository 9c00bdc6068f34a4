"""What is as large, or as slow, as it may be: each of these takes long by its nature."""

"""What the schedule and the queue call."""

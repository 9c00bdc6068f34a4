"""SQS: messages out and in."""

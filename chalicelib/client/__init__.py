"""One HTTP client for Larder's API."""

"""GitHub's deliveries: verify, read, record, and retry later if recording fails."""

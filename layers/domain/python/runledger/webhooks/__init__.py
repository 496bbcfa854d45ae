"""Deliveries from GitHub: verify, parse, record, and retry later if recording fails."""

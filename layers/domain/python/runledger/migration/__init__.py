"""Webhooks and runner configs in S3: copies, fallback and archive for functions; import and comparison for the CLI."""

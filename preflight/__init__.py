"""`make preflight`: finds problems that would prevent a deployment, or keep it from working. It changes nothing."""

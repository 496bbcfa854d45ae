"""`make preflight`: what would keep a deployment from working, before and after `cdk deploy`. It changes nothing."""

"""Payloads about invented things, made from GitHub's own examples so that their shape is the real one."""

"""The HTTP API: authentication, routes and responses. Only the `api` function has this layer."""

# Imported first: it prevents the import of the whole Powertools package.
from runledger.platform import logs

__all__ = ["logs"]

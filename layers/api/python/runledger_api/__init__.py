"""The HTTP API: authentication, routes and responses. Only the `api` function has this layer."""

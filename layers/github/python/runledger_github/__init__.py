"""A client for the part of GitHub's REST API that Runledger uses. It is a separate layer, which intake doesn't load."""

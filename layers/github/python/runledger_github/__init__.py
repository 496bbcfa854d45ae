"""A client for the part of GitHub's REST API that Runledger uses. In a layer of its own, which intake doesn't load."""

"""The part of GitHub's REST API that Runledger asks, in a layer of its own so that intake stays light."""

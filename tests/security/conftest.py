"""The real handlers in an AWS of moto's, as the tests of the functions have them."""

from tests.functions.conftest import scene, world

__all__ = ["scene", "world"]  # fixtures

"""Results that libraries compute again in every test, although they depend on their arguments alone."""

import functools
from typing import Any

import botocore.client
import jwt.algorithms
import moto.core.responses
from cryptography.hazmat.primitives import serialization

_keys: Any = serialization
_signatures: Any = jwt.algorithms
_creator: Any = botocore.client.ClientCreator
_responses: Any = moto.core.responses
_create_methods = _creator._create_methods
_methods: dict[tuple[str, str], dict[str, Any]] = {}


def methods_of_client(creator: Any, service_model: Any) -> dict[str, Any]:
    """Caches the methods of a client class: EC2 alone has 700. Each client gets a copy, which handlers may change."""
    key = service_model.service_name, service_model.api_version
    if key not in _methods:
        _methods[key] = _create_methods(creator, service_model)
    return dict(_methods[key])


def install() -> None:
    """A private key is checked whenever it is loaded, which takes longer than signing with it."""
    _keys.load_pem_private_key = _signatures.load_pem_private_key = functools.cache(_keys.load_pem_private_key)
    _creator._create_methods = methods_of_client
    _responses.method_names_from_class = functools.cache(_responses.method_names_from_class)

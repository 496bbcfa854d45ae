"""Answers, as pydantic checks and OpenAPI describes them.

Typed dictionaries, because the tables' items are dictionaries, too: what is absent there is absent here, and what is
not named here (keys, versions, receipts) does not leave the function.
"""

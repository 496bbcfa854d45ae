"""Response bodies, which pydantic validates and OpenAPI documents.

They are typed dictionaries because table items are dictionaries: attributes that an item lacks are omitted from the
response, and attributes that aren't declared here (keys, versions) are never returned.
"""

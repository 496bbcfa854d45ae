"""Price lists as the Pricing API returns them: a real product, with the changes that a test requests."""

import json
from typing import Any


def product(dollars: str, *, unit: str = "Hrs", currency: str = "USD") -> str:
    sku, term, dimension = "2257YY4K7BWZ4F46", "JRTCKXETXF", "6YS6EN2CT7"
    return json.dumps(
        {
            "product": {
                "productFamily": "Compute Instance",
                "attributes": {
                    "capacitystatus": "Used",
                    "instanceType": "c5ad.2xlarge",
                    "marketoption": "OnDemand",
                    "operatingSystem": "Linux",
                    "preInstalledSw": "NA",
                    "regionCode": "af-south-1",
                    "tenancy": "Shared",
                    "usagetype": "AFS1-BoxUsage:c5ad.2xlarge",
                },
                "sku": sku,
            },
            "serviceCode": "AmazonEC2",
            "terms": {
                "OnDemand": {
                    f"{sku}.{term}": {
                        "priceDimensions": {
                            f"{sku}.{term}.{dimension}": {
                                "unit": unit,
                                "endRange": "Inf",
                                "description": f"${dollars} per On Demand Linux c5ad.2xlarge Instance Hour",
                                "appliesTo": [],
                                "rateCode": f"{sku}.{term}.{dimension}",
                                "beginRange": "0",
                                "pricePerUnit": {currency: dollars},
                            }
                        },
                        "sku": sku,
                        "effectiveDate": "2024-04-01T00:00:00Z",
                        "offerTermCode": term,
                        "termAttributes": {},
                    }
                }
            },
            "version": "20240508191027",
            "publicationDate": "2024-05-08T19:10:27Z",
        }
    )


def with_terms(terms: Any) -> str:
    return json.dumps(json.loads(product("0.1")) | {"terms": terms})

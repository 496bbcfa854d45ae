"""What is deployed: tables, functions, the API in front of them and the bus beside them."""

"""The emulated AWS: MiniStack, DynamoDB Local, and the deployment of the CDK app to them."""

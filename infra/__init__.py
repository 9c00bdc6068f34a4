"""How Larder becomes a running system: the model folder, the package, the deployment, the local cloud."""

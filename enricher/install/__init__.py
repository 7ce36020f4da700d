"""Install the hook in the agent clients and check the installation. Not on the hook's path."""

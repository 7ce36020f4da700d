"""Install the hook in the agent clients and check the installation; the hook itself never imports this package."""

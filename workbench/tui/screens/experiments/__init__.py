"""The Experiments screen: stored experiments, and both answers to each of their prompts."""

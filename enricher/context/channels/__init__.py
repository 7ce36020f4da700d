"""The built-in channels, one module each; ``CHANNELS`` in ``enricher.context`` lists them."""

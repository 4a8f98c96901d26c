"""Facts and names in plain text, found by rules: offline, without a store, and never more than the text says."""

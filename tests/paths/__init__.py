"""The paths: each verb from end to end, on a real store."""

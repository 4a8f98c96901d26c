"""The paths of all verbs but the two that are read first, `remember` and `recall`."""

"""Measuring recall: data sets, metrics and the report."""

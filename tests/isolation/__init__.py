"""A model of who may see what, and a machine that plays every verb against it."""

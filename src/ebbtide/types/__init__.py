"""The values Ebbtide takes and gives: pydantic models at the surface, frozen dataclasses inside."""

"""Verbs that belong together, as a handle offers them: `handle.profiles.save(…)`."""

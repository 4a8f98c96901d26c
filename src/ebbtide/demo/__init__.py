"""The demo: a year of a small sailing school's memories, and the story they tell."""

"""The laptop's own small DiffusionGemma: its checkpoint, its graphs, and how both were made."""

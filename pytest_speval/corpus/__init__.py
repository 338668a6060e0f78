"""Of which clips: the manifest, the clips it lists, their sound and their labels."""

"""What this repository's own runs need beside the plugin."""

pytest_plugins = ["pytester"]

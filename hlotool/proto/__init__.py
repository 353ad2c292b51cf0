"""Modules as protocol buffers: `.hlo.pb`, `.pbtxt` and snapshots."""

"""The HTTP API, and the page for people that it serves."""

from pipeline.web.access import Access, Key
from pipeline.web.application import application
from pipeline.web.hub import Hub
from pipeline.web.parts import WebParts
from pipeline.web.serving import serving

__all__ = ["Access", "Hub", "Key", "WebParts", "application", "serving"]

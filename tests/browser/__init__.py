"""The inspection page in headless Chromium, against the HTTP API and a worker."""

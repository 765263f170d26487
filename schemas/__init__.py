"""The wire contract: events, the role model, stored documents and the topic table."""

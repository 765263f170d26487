"""The next page of a list, as a Link header (RFC 8288)."""

from urllib.parse import urlencode

from fastapi import Request, Response

#: For the OpenAPI document: the header of an answer that is a list.
LINK = {
    "Link": {"description": 'The next page, as <URL>; rel="next"; absent on the last.', "schema": {"type": "string"}}
}


def next_page(request: Request, response: Response, **cursor: str | int) -> None:
    """Point to the page that the same request has with this cursor."""
    query = urlencode({**request.query_params, **cursor})
    response.headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'

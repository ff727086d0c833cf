"""python httpx_get.py STORE [FIELD: VALUE]... URL...: writes the bodies to standard output."""

import sys

import httpx

from dictionaries import Dictionaries
from httpx_dictionaries import DictionaryTransport

store, *words = sys.argv[1:]
headers = dict(word.split(": ", 1) for word in words if not word.startswith("http"))
with httpx.Client(transport=DictionaryTransport(Dictionaries(store)), timeout=30, follow_redirects=True) as client:
    for url in words[len(headers):]:
        response = client.get(url, headers=headers)
        sys.stdout.buffer.write(response.headers.get("Content-Encoding", "").encode() + response.content)

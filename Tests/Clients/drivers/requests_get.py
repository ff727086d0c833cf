"""python requests_get.py STORE [FIELD: VALUE]... URL...: writes the bodies to standard output."""

import sys

import requests

from dictionaries import Dictionaries
from requests_dictionaries import DictionaryAdapter

store, *words = sys.argv[1:]
headers = dict(word.split(": ", 1) for word in words if not word.startswith("http"))
with requests.Session() as session:
    for scheme in ["http://", "https://"]:
        session.mount(scheme, DictionaryAdapter(Dictionaries(store)))
    for url in words[len(headers):]:
        response = session.get(url, headers=headers, timeout=30)
        sys.stdout.buffer.write(response.headers.get("Content-Encoding", "").encode() + response.content)

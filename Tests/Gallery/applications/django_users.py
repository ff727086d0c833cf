"""Who asks the Django application: the user of its session, or of a bearer token."""

import gallery
from rest_framework import authentication


class User:
    is_authenticated = True

    def __init__(self, name):
        self.name = name


class TokenAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request):
        name = gallery.bearer(request.headers.get("Authorization"))
        return (User(name), None) if name else None

    def authenticate_header(self, request):
        return "Bearer"


class SessionAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request):
        name = request._request.session.get("user")
        return (User(name), None) if name else None

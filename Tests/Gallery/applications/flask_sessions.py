"""Flask with its signed-cookie sessions: JSON and HTML, one page that rolls the session on every response."""

import gallery
from asgiref.wsgi import WsgiToAsgi
from flask import Flask, jsonify, render_template_string, request, session

application = Flask(__name__)
application.secret_key = "the gallery's"

PAGE = """<!doctype html><html><head><title>{{ user }}</title></head><body><h1>Hello {{ user }}</h1>
<ul>{% for line in lines %}<li id="{{ line.id }}"><b>{{ line.secret }}</b> <span class="note">{{ line.note }}</span></li>
{% endfor %}</ul></body></html>"""


@application.get("/products")
def products():
    return jsonify(gallery.products())


@application.get("/login")
def login():
    session["user"] = request.args["user"]
    return "", 204


@application.get("/inbox")
def inbox():
    user = session.get("user") or gallery.bearer(request.headers.get("Authorization"))
    if not user:
        return jsonify(error="Log in first."), 401
    return jsonify(user=user, lines=gallery.private_lines(user))


@application.get("/rolling")
def rolling():
    session["seen"] = session.get("seen", 0) + 1
    user = session.get("user", "nobody")
    return render_template_string(PAGE, user=user, lines=gallery.private_lines(user))


if __name__ == "__main__":
    gallery.serve(WsgiToAsgi(application))

"""Tornado: an ETag on every response, signed cookies, an XSRF cookie, and gzip by the application itself."""

import asyncio
import hashlib

import gallery
import tornado.web

PAGE = """<!doctype html><html><head><title>Products</title></head><body><form method="post">{xsrf}<input name="q"></form>
<table>{rows}</table></body></html>"""


class Handler(tornado.web.RequestHandler):
    def finish(self, chunk=None):
        if chunk is not None:
            self.write(chunk)
        # Before the application's own gzip.
        body = b"".join(self._write_buffer)
        if body:
            self.set_header("X-Gallery-Digest", hashlib.sha256(body).hexdigest())
        return super().finish()

    @property
    def user(self):
        name = self.get_signed_cookie("user")
        return name.decode() if name else gallery.bearer(self.request.headers.get("Authorization"))


class Products(Handler):
    def get(self):
        self.write({"products": gallery.products()})


class Login(Handler):
    def get(self):
        self.set_signed_cookie("user", self.get_argument("user"))
        self.set_status(204)


class Inbox(Handler):
    def get(self):
        if not self.user:
            raise tornado.web.HTTPError(401)
        self.write({"user": self.user, "lines": gallery.private_lines(self.user)})


class Page(Handler):
    def get(self):
        rows = "".join(
            f"<tr><td>{item['id']}</td><td>{item['name']}</td><td>{item['description']}</td><td>{item['price']}</td></tr>\n"
            for item in gallery.products())
        self.write(PAGE.format(xsrf=self.xsrf_form_html(), rows=rows))


async def main():
    application = tornado.web.Application(
        [("/products", Products), ("/login", Login), ("/inbox", Inbox), ("/page", Page)],
        cookie_secret="the gallery's", xsrf_cookies=True, compress_response=True)
    server = application.listen(0, "127.0.0.1")
    port = next(iter(server._sockets.values())).getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())

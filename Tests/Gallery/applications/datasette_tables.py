"""datasette over a table that changes: JSON and HTML pages, `Vary: Cookie, Authorization`, short lives."""

import json
import os
import sqlite3

import gallery
from datasette.app import Datasette

path = os.path.join(os.path.dirname(os.environ["GALLERY_TICK"]), "catalogue.db")
database = sqlite3.connect(path, isolation_level=None)
database.execute("pragma journal_mode=wal")
database.execute(
    "create table if not exists product (id integer primary key, sku text, name text, description text, price real,"
    " stock integer, tags text, updated text)")


class Refreshed:
    """Brings the table to the current tick before each request."""

    def __init__(self, application):
        self.application = application
        self.tick = None

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and self.tick != gallery.tick():
            self.tick = gallery.tick()
            for item in gallery.products(120):
                row = {**item, "tags": json.dumps(item["tags"])}
                database.execute(
                    "insert or replace into product values (:id, :sku, :name, :description, :price, :stock, :tags, :updated)",
                    row)
        await self.application(scope, receive, send)


if __name__ == "__main__":
    gallery.serve(Refreshed(Datasette([path], settings={"default_page_size": 100}).app()))

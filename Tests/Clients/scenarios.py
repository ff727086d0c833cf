"""What each client of the page must do: first behind Dictum, then against servers that are scripted."""

import base64
import gzip
import hashlib
import json
import pathlib
import time

from wire import Server

WAIT_SECONDS = 20
VECTORS = pathlib.Path(__file__).resolve().parent.parent / "Vectors"


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def named(body):
    """The value of Available-Dictionary for a dictionary."""
    return f":{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


class Feed:
    """The upstream: a JSON feed that changes a little at each `change`; `own` adds what belongs to the user that asks."""

    def __init__(self):
        self.version = 0
        self.server = Server(self.answer)

    def body(self, user="nobody"):
        items = [{"id": number, "text": f"item {number * 7919 % 1000}", "price": number * 31 % 97} for number in range(300)]
        return json.dumps({"version": self.version, "user": user, "items": items}).encode()

    def answer(self, path, request):
        user = request.get("Authorization", "nobody")
        life = "private, max-age=600" if path.startswith("/own") else "max-age=600"
        fields = {"Content-Type": "application/json", "Cache-Control": life, "ETag": f'"{self.version}"'}
        if request.get("If-None-Match", "").removeprefix("W/") == fields["ETag"]:
            return 304, fields, b""
        return 200, fields, self.body(user)


class BehindDictum:
    """A client, a relay, Dictum, and the feed."""

    def __init__(self, client, folder, feed, relay):
        self.client, self.folder, self.feed, self.relay = client, folder, feed, relay

    def get(self, store, *paths, user=None):
        """Asks with the store, compares the bodies with the feed's, and returns what went over the wire."""
        self.relay.take()
        fields = [f"Authorization: {user}"] if user else []
        body = self.client.get(self.folder / store, [self.relay.url + path for path in paths], fields)
        check(body == self.feed.body(user or "nobody") * len(paths), f"{paths}: a body is not what the upstream sent")
        return self.relay.take()

    def first(self, store, *paths, user=None):
        """First fetches, which have no dictionary; then the feed changes. Returns the body that they got."""
        for exchange in self.get(store, *paths, user=user):
            check(not exchange.advertised and exchange.coding != "dcz", f"a first fetch advertises {exchange.advertised}")
            check("Use-As-Dictionary" in exchange.fields, f"{exchange.path}: no offer")
        body = self.feed.body(user or "nobody")
        self.feed.version += 1
        return body

    def deltas(self, store, *paths, over, user=None):
        """Fetches that must be deltas over this body."""
        for exchange in self.get(store, *paths, user=user):
            check(exchange.coding == "dcz" and len(exchange.body) * 5 < len(over),
                  f"{exchange.path}: {len(exchange.body)} bytes of {exchange.coding}: expected a small dcz")
            check(exchange.advertised == named(over), f"{exchange.path}: another dictionary is advertised")
            check(exchange.request["Dictionary-ID"], f"{exchange.path}: the id is not returned")

    def test_the_second_fetch_is_a_delta_after_a_restart(self):
        held = self.first("one", "/feed")
        self.deltas("one", "/feed", over=held)
        # Dictum offers no newer dictionary as long as this one is good. A path's dictionary is for any query.
        self.feed.version += 1
        self.deltas("one", "/feed?page=1", over=held)

    def test_users_share_nothing(self):
        held = {user: self.first(user, "/own", user=user) for user in ["alice", "bob"]}
        for user, body in held.items():
            self.deltas(user, "/own", over=body, user=user)

    def test_a_corrupted_delta_costs_one_retry(self):
        spoils = {
            "/checksum": lambda body: body[:-1] + bytes([body[-1] ^ 1]),
            "/hash": lambda body: body[:8] + bytes([body[8] ^ 1]) + body[9:],
            "/magic": lambda body: bytes([body[0] ^ 1]) + body[1:],
            "/truncated": lambda body: body[:-9],
            "/no-header": lambda body: body[:20],
            "/empty": lambda body: b"",
        }
        self.first("spoiled", *spoils)
        self.relay.spoils = dict(spoils)
        exchanges = self.get("spoiled", *spoils)
        check(len(exchanges) == 2 * len(spoils), f"{len(exchanges)} requests for {len(spoils)} damaged deltas")
        for path, broken, again in zip(spoils, exchanges[::2], exchanges[1::2]):
            check(broken.coding == "dcz" and broken.advertised, f"{path}: no delta to damage")
            check(not again.advertised and not again.request["Dictionary-ID"], f"{path}: the retry advertises a dictionary")
            check("dcz" not in again.request.get("Accept-Encoding", ""), f"{path}: the retry accepts dcz")
        # The bodies of the retries are the next dictionaries.
        held = self.feed.body()
        self.feed.version += 1
        self.deltas("spoiled", *spoils, over=held)

    def test_not_modified_reaches_the_app(self):
        self.relay.take()
        url, tag = self.relay.url + "/validated", f'If-None-Match: "{self.feed.version}"'
        held = self.first("validated", "/validated")
        self.feed.version -= 1
        check(self.client.get(self.folder / "validated", [url], [tag]) == b"", "a body with a 304")
        check([exchange.status for exchange in self.relay.take()] == [304], "no 304")
        self.feed.version += 1
        self.deltas("validated", "/validated", over=held)


class AgainstScript:
    """A client, and servers that offer what the test says in the first response to a path, and nothing in later ones."""

    def __init__(self, client, folder):
        self.client, self.folder = client, folder

    def after(self, store, offers, paths):
        """Fetches each path of `offers`, which has the fields of its response, then `paths`; returns what is advertised."""
        first = dict(offers)
        server = Server(lambda path, _: (200, first.pop(path, {}), path.encode() * 50))
        try:
            self.client.get(self.folder / store, [server.url + path for path in offers])
            server.take()
            body = self.client.get(self.folder / store, [server.url + path for path in paths])
            check(body == b"".join(path.encode() * 50 for path in paths), "a body is not what the server sent")
            return [exchange.advertised for exchange in server.take()]
        finally:
            server.stop()

    def expect(self, store, rows):
        """Each row says what it is, whether it is kept (None for either), the members of the offer behind `match`, and
        other fields."""
        offers = {}
        for number, (_, _, members, fields) in enumerate(rows):
            members = members.replace("OWN", f'match="/{number}"')
            offers[f"/{number}"] = {"Use-As-Dictionary": members, **fields}
        for path, found, (what, is_kept, _, _) in zip(offers, self.after(store, offers, list(offers)), rows):
            check(is_kept is None or found == (named(path.encode() * 50) if is_kept else None), f"{what}: advertised {found}")

    def test_only_what_is_fresh_is_kept(self):
        def date(seconds):
            return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + seconds))

        def control(value, **fields):
            return {"Cache-Control": value, **fields}

        self.expect("fresh", [
            ("max-age", True, "OWN", control("max-age=600")),
            ("private", True, "OWN", control("private, max-age=600")),
            ("must-revalidate", True, "OWN", control("max-age=600, must-revalidate")),
            ("an Expires that does not count", True, "OWN", control("max-age=600", Expires="0")),
            ("Expires", True, "OWN", {"Date": date(0), "Expires": date(3600)}),
            ("Expires in the past", False, "OWN", {"Date": date(0), "Expires": date(-3600)}),
            ("Expires that is no date", False, "OWN", {"Expires": "0"}),
            ("no life", False, "OWN", {}),
            ("no-store", False, "OWN", control("no-store, max-age=600")),
            ("no-cache", False, "OWN", control("no-cache, max-age=600")),
            ("max-age=0", False, "OWN", control("max-age=0")),
            ("an Age as long", False, "OWN", control("max-age=600", Age="600")),
            ("an old Date", False, "OWN", control("max-age=600", Date=date(-3600))),
            ("ttl", True, "OWN, ttl=600", control("no-cache")),
            ("ttl with no-store", False, "OWN, ttl=600", control("no-store")),
            ("no-store in a second line", False, "OWN", control(["max-age=600", "no-store"])),
            ("no-cache in a second line", False, "OWN", control(["max-age=600", "no-cache"])),
            ("max-age in a second line", True, "OWN", control(["private", "max-age=600"])),
            ("Vary: * in a second line", False, "OWN", control("max-age=600", Vary=["Accept", "*"])),
            # RFC 9111 section 1.2.2 has a number that is too large be 2^31.
            ("a max-age of 310 digits", None, "OWN", control("max-age=" + "9" * 310)),
            ("the same from a clock that is ahead", None, "OWN", control("max-age=" + "9" * 310, Date=date(60))),
            ("a ttl of 310 digits", None, "OWN, ttl=" + "9" * 310, control("max-age=600")),
            ("an Age of 310 digits", False, "OWN", control("max-age=600", Age="9" * 310)),
        ])

    def test_a_dictionary_is_not_used_once_it_is_stale(self):
        # On a busy machine a life may be over before the second request.
        for life in [2, 4, 8, 16, 32]:
            offer = {"Use-As-Dictionary": 'match="/feed"', "Cache-Control": f"max-age={life}"}
            server = Server(lambda path, _, offer=offer: (200, {} if server.exchanges else offer, b"body" * 50))
            try:
                self.client.get(self.folder / f"stale{life}", [server.url + "/feed"] * 2)
                if not server.exchanges[-1].advertised:
                    continue
                deadline = time.monotonic() + life + WAIT_SECONDS
                while server.exchanges[-1].advertised:
                    check(time.monotonic() < deadline, "it is advertised still")
                    self.client.get(self.folder / f"stale{life}", [server.url + "/feed"])
                return
            finally:
                server.stop()
        check(False, "it was never advertised")

    def test_the_vectors_have_the_verdicts_of_their_index(self):
        index = json.loads((VECTORS / "index.json").read_text(encoding="utf-8"))["vectors"]
        vectors = {f"/{vector['file']}": vector for vector in index if vector["coding"] == "dcz"}

        def answer(path, request):
            """The dictionary, then the body over it, and to those that ask again another body."""
            if not any(exchange.path == path for exchange in server.exchanges):
                offer = {"Use-As-Dictionary": f'match="{path}"', "Cache-Control": "max-age=600"}
                return 200, offer, (VECTORS / vectors[path]["dictionary"]).read_bytes()
            if "dcz" in request["Accept-Encoding"]:
                return 200, {"Content-Encoding": "dcz"}, (VECTORS / vectors[path]["file"]).read_bytes()
            return 200, {}, path.encode()

        server = Server(answer)
        try:
            urls = [server.url + path for path in vectors]
            self.client.get(self.folder / "vectors", urls)
            first = list(server.exchanges)
            body = self.client.get(self.folder / "vectors", urls)
            second = server.exchanges[len(first):]
            self.client.get(self.folder / "vectors", urls)
            third = server.exchanges[len(first) + len(second):]
        finally:
            server.stop()
        expected = b""
        for path, vector in vectors.items():
            own = [exchange for exchange in second if exchange.path == path]
            is_decoded = [exchange.coding for exchange in own] == ["dcz"]
            expected += (VECTORS / vector["plain"]).read_bytes() if is_decoded else path.encode()
            if vector["dictionary"] == "formatted.dictionary" and not self.client.knows_raw:
                check(len(own) == 1 and not own[0].advertised, f"{path}: keeps what it cannot use")
            elif vector["verdict"] != "optional":
                check(is_decoded == (vector["verdict"] == "valid"), f"{path}: {'taken' if is_decoded else 'refused'}: {vector['what']}")
                is_held = any(exchange.advertised for exchange in third if exchange.path == path)
                check(is_held == is_decoded, f"{path}: {'keeps' if is_held else 'drops'} the dictionary")
        check(body == expected, "a body is neither that of the vector nor that of the retry")

    def test_the_longest_match_wins(self):
        if not self.client.knows_wildcards:
            return
        fresh = {"Cache-Control": "max-age=600"}
        offers = {"/a/one": {"Use-As-Dictionary": 'match="/a/b*"', **fresh},
                  "/a/two": {"Use-As-Dictionary": 'match="/a/*"', **fresh}}
        found = self.after("longest", offers, ["/a/bc", "/a/c", "/a/", "/b/bc"])
        one, two = (named(path.encode() * 50) for path in offers)
        check(found == [one, two, two, None], f"{found}")

    def test_patterns_and_types_that_the_client_does_not_know_are_left_alone(self):
        fresh = {"Cache-Control": "max-age=600"}
        self.expect("patterns", [
            *((match, False, f'match="{match}"', fresh) for match in [
                "/(.*)", "/:name", "/5{s}?", "3", "https://elsewhere.test/4", "/\\d"]),
            ("another type", False, "OWN, type=other", fresh),
            ("no match", False, 'id="7"', fresh),
            ("a match in another member", False, 'id="match=\"/8\""', fresh),
            ("the type raw", True, 'type=raw, OWN, match-dest=("document" "")', fresh),
        ])

    def test_no_match_takes_long_or_ends_the_client(self):
        fresh = {"Cache-Control": "max-age=600"}
        path = "/" + "a" * 4000
        check(self.after("long", {path: {"Use-As-Dictionary": f'match="{path}"', **fresh}}, [path]) == [named(path.encode() * 50)],
              "a long match is not known")
        path = "/" + "0" * 100
        slow = 'match="/' + "*0" * 30 + '*b"'
        check(self.after("slow", {path: {"Use-As-Dictionary": slow, **fresh}}, [path]) == [None], "it is advertised elsewhere")

    def test_a_delta_that_was_not_asked_for_is_an_error(self):
        vector = (VECTORS / "no-checksum.dcz").read_bytes()
        for coding in ["dcz", "dcb"]:
            server = Server(lambda path, _, coding=coding: (200, {"Content-Encoding": coding}, vector))
            try:
                body = self.client.get(self.folder / "unasked", [server.url + "/feed"])
            except AssertionError:
                continue
            finally:
                server.stop()
            check(False, f"{coding}: the app gets {len(body)} bytes")

    def test_a_coding_that_is_not_undone_stays_in_the_head(self):
        if not self.client.shows_coding:
            return
        answers = {"/unknown": ("unknown", b"body"), "/upper": ("GZIP", gzip.compress(b"body"))}

        def answer(path, _):
            coding, body = answers[path]
            return 200, {"Content-Encoding": coding}, body

        server = Server(answer)
        try:
            unknown, upper = (self.client.get(self.folder / "unknown", [server.url + path]) for path in answers)
        finally:
            server.stop()
        check(unknown == b"unknownbody", f"the app gets {unknown}")
        check(upper == b"body", f"the app gets {upper} of a coding in capitals")

    def test_a_store_that_fails_costs_the_app_nothing(self):
        store = self.folder / "failing"

        def fail():
            if store.is_file():
                store.write_bytes(b"x" * store.stat().st_size)
                return
            for file in list(store.iterdir()):
                file.unlink()
                (file / "something").mkdir(parents=True)

        def answer(path, _):
            if path == "/fails":
                fail()
            return 200, {"Use-As-Dictionary": f'match="{path}"', "Cache-Control": "max-age=600"}, path.encode() * 50

        server = Server(answer)
        try:
            self.client.get(store, [server.url + "/feed"])
            body = self.client.get(store, [server.url + path for path in ["/fails", "/feed"]])
        finally:
            server.stop()
        check(body == b"/fails" * 50 + b"/feed" * 50, "a body is not what the server sent")
        files = [] if store.is_file() else list(store.iterdir())
        check(len(files) in [0, 2], f"files are left: {files}")

    def test_a_url_without_a_scheme_is_an_error(self):
        try:
            body = self.client.get(self.folder / "schemes", ["http"])
        except AssertionError as error:
            check("Sanitizer" not in str(error), f"{error}")
            return
        check(False, f"the app gets {body}")

    def test_paths_are_compared_as_a_whole(self):
        offer = {"Use-As-Dictionary": 'match="/feed"', "Cache-Control": "max-age=600"}
        found = self.after("paths", {"/feed": offer}, ["/feed", "/feed?a=b", "/feeds", "/fee", "/"])
        own = named(b"/feed" * 50)
        check(found == [own, own, None, None, None], f"{found}")

    def test_without_https_only_this_machine_has_dictionaries(self):
        offer = {"Use-As-Dictionary": 'match="/feed"', "Cache-Control": "max-age=600"}
        # A name or address of this machine that clients cannot know for one.
        server = Server(lambda path, _: (200, offer, b"body" * 50), address="127.0.0.2")
        try:
            self.client.get(self.folder / "insecure", [server.url + "/feed"] * 2)
            check(not any(exchange.advertised for exchange in server.exchanges), "a dictionary is named over plain HTTP")
        finally:
            server.stop()

    def test_another_origin_learns_nothing(self):
        other = Server(lambda path, _: (200, {}, b"elsewhere"))
        server = Server(lambda path, _: (302, {"Location": other.url + "/feed"}, b"") if server.exchanges else (
            200, {"Use-As-Dictionary": 'match="/feed", id="1"', "Cache-Control": "max-age=600"}, b"body" * 50))
        try:
            self.client.get(self.folder / "origins", [server.url + "/feed"])
            self.client.get(self.folder / "origins", [server.url + "/feed", other.url + "/feed"])
            check(server.take()[-1].advertised, "the own origin learns nothing either")
            for exchange in other.take():
                check(not exchange.advertised and not exchange.request["Dictionary-ID"], "another origin learns of it")
        finally:
            other.stop()
            server.stop()

"""A GraphQL endpoint by Ariadne, over POST and GET."""

import gallery
from ariadne import QueryType, make_executable_schema
from ariadne.asgi import GraphQL
from ariadne.asgi.handlers import GraphQLHTTPHandler

query = QueryType()


@query.field("products")
def products(_, info, first=60):
    return gallery.products()[:first]


@query.field("featured")
def featured(_, info):
    return gallery.products()[::2]


@query.field("inbox")
def inbox(_, info):
    user = gallery.bearer(info.context["request"].headers.get("authorization"))
    if not user:
        raise ValueError("A token is missing.")
    return gallery.private_lines(user)


schema = make_executable_schema(
    """type Product { id: Int! sku: String! name: String! description: String! price: String! stock: Int! tags: [String!]! }
    type Line { id: Int! secret: String! note: String! }
    type Query { products(first: Int): [Product!]! featured: [Product!]! inbox: [Line!]! }""",
    query)

if __name__ == "__main__":
    gallery.serve(GraphQL(schema, execute_get_queries=True, http_handler=GraphQLHTTPHandler()))

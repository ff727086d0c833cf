"""Django with its session and CSRF middleware, and Django REST framework: JSON, HTML, sessions, tokens, pages."""

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="the gallery's",
    SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies",
    SESSION_SAVE_EVERY_REQUEST=False,
    INSTALLED_APPS=["django.contrib.sessions", "django.contrib.staticfiles", "rest_framework"],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "DIRS": []}],
    STATIC_URL="/static/",
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["django_users.TokenAuthentication", "django_users.SessionAuthentication"],
        "UNAUTHENTICATED_USER": None,
        "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
        "PAGE_SIZE": 20,
    },
)
django.setup()

import gallery  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.template import RequestContext, Template  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import generics, serializers  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class ProductSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    sku = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    price = serializers.DecimalField(max_digits=8, decimal_places=2)
    stock = serializers.IntegerField()
    tags = serializers.ListField()
    updated = serializers.CharField()


class Products(generics.ListAPIView):
    serializer_class = ProductSerializer

    def get_queryset(self):
        return gallery.products()


class Everything(APIView):
    def get(self, request):
        return Response(ProductSerializer(gallery.products(), many=True).data)


class Inbox(APIView):
    def get(self, request):
        if not request.user:
            return Response({"detail": "Log in first."}, status=401)
        return Response({"user": request.user.name, "lines": gallery.private_lines(request.user.name)})


PAGE = Template("""<!doctype html><html><head><title>Products</title></head><body>
<form method="post">{% csrf_token %}<input name="q"><button>Search</button></form>
<table>{% for item in items %}<tr class="product"><td>{{ item.id }}</td><td><a href="/products/{{ item.id }}">{{ item.name }}</a>
</td><td>{{ item.description }}</td><td>{{ item.price }}</td><td>{{ item.stock }}</td></tr>
{% endfor %}</table></body></html>""")


def plain(request):
    return JsonResponse({"products": gallery.products()})


def session(request):
    user = request.session.get("user", "nobody")
    lines = gallery.private_lines(user) if user != "nobody" else gallery.products(30)
    return JsonResponse({"user": user, "lines": lines})


def login(request):
    request.session["user"] = request.GET["user"]
    return HttpResponse(status=204)


def page(request):
    return HttpResponse(PAGE.render(RequestContext(request, {"items": gallery.products()})))


urlpatterns = [
    path("plain", plain),
    path("session", session),
    path("login", login),
    path("page", page),
    path("api/products", Products.as_view()),
    path("api/everything", Everything.as_view()),
    path("api/inbox", Inbox.as_view()),
]

if __name__ == "__main__":
    gallery.serve(get_asgi_application())

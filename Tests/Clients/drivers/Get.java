import java.nio.file.Path;
import okhttp3.*;

/** Get STORE [FIELD: VALUE]... URL...: writes the bodies to standard output. */
final class Get {
    public static void main(String[] words) throws Exception {
        OkHttpClient client = new Dictionaries(Path.of(words[0])).addTo(new OkHttpClient.Builder()).build();
        Headers.Builder fields = new Headers.Builder();
        for (String word : words) {
            if (word.equals(words[0])) continue;
            if (!word.startsWith("http")) {
                fields.add(word);
                continue;
            }
            try (Response response = client.newCall(new Request.Builder().url(word).headers(fields.build()).build()).execute()) {
                System.out.print(response.header("Content-Encoding", ""));
                System.out.write(response.body().bytes());
            }
        }
        System.out.flush();
        client.connectionPool().evictAll();
        System.exit(0); // OkHttp's threads would keep it for a minute
    }
}

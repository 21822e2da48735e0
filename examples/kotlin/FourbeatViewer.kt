// A viewer of a Fourbeat stream by plain HTTP, for Android and the JVM. On the JVM it needs the package
// org.json:json, which Android includes. All methods block: do not call them on the main thread.
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.random.Random
import org.json.JSONException
import org.json.JSONObject

private const val SECOND_NS = 1_000_000_000L

class HttpException(val status: Int) : IOException("HTTP $status")

/** @param baseUrl such as `https://live.example` */
class FourbeatViewer(
    baseUrl: String,
    private val streamId: String,
    private val viewerId: String
) : AutoCloseable {
    private val api = "$baseUrl/api/v1"
    private var token: String? = null
    private var renewAtMs = 0L

    @Volatile
    private var isOpen = true

    /** Sends heartbeats and reads the feed until [close]. Call it once. */
    fun watch(onEvent: (type: String, data: JSONObject?) -> Unit) {
        thread(name = "heartbeat", isDaemon = true) { sendHeartbeats() }
        try {
            readFeed(onEvent)
        } finally {
            close()
        }
    }

    /**
     * Sends an answer until its result is known. Resending the same answer is harmless.
     * @param quiz the data of a `quiz` event
     * @return whether the answer counts; false when it was too late, or an earlier answer counts
     * @throws IOException when the result is still unknown after the quiz's duration and 2 s
     */
    fun answer(quiz: JSONObject, choice: String): Boolean {
        val path = "quizzes/${quiz.getString("id")}/answer"
        val body = JSONObject()
            .put("streamId", streamId)
            .put("choice", choice)
            .put("closeInterval", quiz.getLong("closeInterval"))
        val deadlineMs = System.currentTimeMillis() + quiz.getLong("duration") + 2_000
        while (true) {
            try {
                post(path, body)
                return true
            } catch (error: IOException) {
                if (error is HttpException && error.status in listOf(400, 404, 409)) return false
                if (System.currentTimeMillis() > deadlineMs) throw error
            }
            Thread.sleep(500)
        }
    }

    /** Reports a win: call it on `request-quiz-winners` when all answers of this viewer were correct. */
    fun recordWinner() = post("quizzes/$streamId/record-winner")

    override fun close() {
        isOpen = false
    }

    /** Sends one heartbeat a second. Skips those that it missed while the device slept. */
    private fun sendHeartbeats() {
        // Each heartbeat has its own thread: a request that hangs does not delay the next one.
        val posts = Executors.newCachedThreadPool { run -> Thread(run).apply { isDaemon = true } }
        var dueNs = System.nanoTime()
        while (isOpen) {
            posts.execute {
                try {
                    post("view-counts/$streamId")
                } catch (error: Exception) {
                    // The next heartbeat may succeed.
                }
            }
            val nowNs = System.nanoTime()
            while (dueNs <= nowNs) dueNs += SECOND_NS
            TimeUnit.NANOSECONDS.sleep(dueNs - nowNs)
        }
        posts.shutdown()
    }

    private fun readFeed(onEvent: (String, JSONObject?) -> Unit) {
        var nextInterval: Long? = null
        while (isOpen) {
            try {
                // Catch up on missed intervals of the last minute (240 intervals).
                val now = JSONObject(textOf(open("GET", "time"))).getLong("interval")
                val from = maxOf(nextInterval ?: now, now - 240)
                val path = "events-streams/$streamId?interval=$from"
                val feed = open("GET", path, bearer(), accept = "text/event-stream")
                feed.inputStream.bufferedReader().use { reader ->
                    while (isOpen) {
                        val line = reader.readLine() ?: break
                        if (!line.startsWith("data:")) continue
                        val interval = JSONObject(line.substring("data:".length))
                        nextInterval = interval.getLong("interval") + 1
                        val events = interval.getJSONArray("events")
                        for (index in 0 until events.length()) {
                            val event = events.getJSONObject(index)
                            onEvent(event.getString("type"), event.optJSONObject("data"))
                        }
                    }
                }
            } catch (error: IOException) {
                // Reconnect below.
            } catch (error: JSONException) {
                // The connection broke within a line.
            }
            // The token expired, or the connection broke. The random delay spreads the load.
            if (isOpen) Thread.sleep(Random.nextLong(500, 2_000))
        }
    }

    private fun post(path: String, body: JSONObject? = null) {
        textOf(open("POST", path, bearer(), body = body))
    }

    /** Returns a valid token. Tokens expire after ten minutes; this renews them after eight. */
    @Synchronized
    private fun bearer(): String {
        val nowMs = System.currentTimeMillis()
        token?.let { if (nowMs < renewAtMs) return it }
        val body = JSONObject().put("stream_id", streamId).put("unique_user_identifier", viewerId)
        val response = textOf(open("POST", "token", body = body))
        val renewed = try {
            JSONObject(response).getString("token")
        } catch (error: JSONException) {
            throw IOException("Not a Fourbeat response.", error)
        }
        token = renewed
        renewAtMs = nowMs + 8 * 60_000
        return renewed
    }

    @Synchronized
    private fun discard(rejected: String?) {
        if (token == rejected) token = null
    }

    private fun open(
        method: String,
        path: String,
        bearer: String? = null,
        accept: String = "application/json",
        body: JSONObject? = null
    ): HttpURLConnection {
        val connection = URL("$api/$path").openConnection() as HttpURLConnection
        connection.requestMethod = method
        connection.connectTimeout = 5_000
        // The feed sends four messages a second.
        connection.readTimeout = 5_000
        connection.setRequestProperty("Accept", accept)
        if (bearer != null) connection.setRequestProperty("Authorization", "Bearer $bearer")
        if (method == "POST") {
            connection.doOutput = true
            connection.setRequestProperty("Content-Type", "application/json")
            connection.outputStream.use { it.write((body?.toString() ?: "").toByteArray()) }
        }
        val status = connection.responseCode
        if (status in 200..299) return connection
        if (status == 401) discard(bearer)
        connection.errorStream?.close()
        throw HttpException(status)
    }

    private fun textOf(connection: HttpURLConnection): String =
        connection.inputStream.bufferedReader().use { it.readText() }
}

/** How an app uses the class. */
fun main() {
    val viewer = FourbeatViewer("https://live.example", "STREAM", "user-1")
    viewer.watch { type, data ->
        when (type) {
            "view-count" -> println("${data?.getString("formatted")} watching")
            "quiz" -> thread {
                val quiz = data ?: return@thread
                val choice = quiz.getJSONArray("order").getString(0)
                val outcome = try {
                    if (viewer.answer(quiz, choice)) "counted" else "not counted"
                } catch (error: IOException) {
                    "unknown: ${error.message}"
                }
                println("${quiz.getString("question")} $choice: $outcome")
            }
            "quiz-results" -> println("Correct answer: ${data?.getString("answer")}")
        }
    }
}

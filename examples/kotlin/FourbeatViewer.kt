// A viewer of a Fourbeat stream by plain HTTP, for Android and the JVM. Android has org.json; on the
// JVM it is the package org.json:json. All calls block: keep them off the main thread.
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

class HttpFailure(val status: Int) : IOException("HTTP $status")

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

    /** Is counted, and tells each event, until [close] is called. Once. */
    fun watch(onEvent: (type: String, data: JSONObject?) -> Unit) {
        thread(name = "heartbeat", isDaemon = true) { sendHeartbeats() }
        try {
            readFeed(onEvent)
        } finally {
            close()
        }
    }

    /**
     * Sends it until it is known what became of it; the same again does no harm.
     * @param quiz the data of a `quiz` event
     * @return whether it counts; else it came too late, or another answer stands
     */
    fun answer(quiz: JSONObject, choice: String): Boolean {
        val path = "quizzes/${quiz.getString("id")}/answer"
        val body = JSONObject()
            .put("streamId", streamId)
            .put("choice", choice)
            .put("closeInterval", quiz.getLong("closeInterval"))
        val giveUpMs = System.currentTimeMillis() + quiz.getLong("duration") + 2_000
        while (true) {
            try {
                post(path, body)
                return true
            } catch (failure: IOException) {
                if (failure is HttpFailure && failure.status in listOf(400, 404, 409)) return false
                if (System.currentTimeMillis() > giveUpMs) throw failure
            }
            Thread.sleep(500)
        }
    }

    /** For who answered everything correctly, when `request-quiz-winners` comes. */
    fun recordWinner() = post("quizzes/$streamId/record-winner")

    override fun close() {
        isOpen = false
    }

    /** One a second from start to start; those that a sleep left out are not made up for. */
    private fun sendHeartbeats() {
        // Each has a thread of its own: one that hangs holds up no other.
        val posts = Executors.newCachedThreadPool { run -> Thread(run).apply { isDaemon = true } }
        var dueNs = System.nanoTime()
        while (isOpen) {
            posts.execute {
                try {
                    post("view-counts/$streamId")
                } catch (failure: Exception) {
                    // The next one may come through; what came was perhaps no answer of the service.
                }
            }
            val nowNs = System.nanoTime()
            while (dueNs <= nowNs) dueNs += SECOND_NS
            TimeUnit.NANOSECONDS.sleep(dueNs - nowNs)
        }
        posts.shutdown()
    }

    private fun readFeed(onEvent: (String, JSONObject?) -> Unit) {
        var next: Long? = null
        while (isOpen) {
            try {
                // What was missed is told, but not what is older than a minute.
                val now = JSONObject(textOf(open("GET", "time"))).getLong("interval")
                val from = maxOf(next ?: now, now - 240)
                val path = "events-streams/$streamId?interval=$from"
                val feed = open("GET", path, bearer(), accept = "text/event-stream")
                feed.inputStream.bufferedReader().use { reader ->
                    while (isOpen) {
                        val line = reader.readLine() ?: break
                        if (!line.startsWith("data:")) continue
                        val interval = JSONObject(line.substring("data:".length))
                        next = interval.getLong("interval") + 1
                        val events = interval.getJSONArray("events")
                        for (index in 0 until events.length()) {
                            val event = events.getJSONObject(index)
                            onEvent(event.getString("type"), event.optJSONObject("data"))
                        }
                    }
                }
            } catch (failure: IOException) {
                // Tried again below.
            } catch (cut: JSONException) {
                // The connection broke within a line.
            }
            // It ended with its token, or broke. A crowd must not come back as one.
            if (isOpen) Thread.sleep(Random.nextLong(500, 2_000))
        }
    }

    private fun post(path: String, body: JSONObject? = null) {
        textOf(open("POST", path, bearer(), body = body))
    }

    /** It is good for ten minutes. */
    @Synchronized
    private fun bearer(): String {
        val nowMs = System.currentTimeMillis()
        token?.let { if (nowMs < renewAtMs) return it }
        val body = JSONObject().put("stream_id", streamId).put("unique_user_identifier", viewerId)
        val answered = textOf(open("POST", "token", body = body))
        val renewed = try {
            JSONObject(answered).getString("token")
        } catch (other: JSONException) {
            throw IOException("this is not the service's answer", other)
        }
        token = renewed
        renewAtMs = nowMs + 8 * 60_000
        return renewed
    }

    @Synchronized
    private fun refuse(refused: String?) {
        if (token == refused) token = null
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
        // Of the feed four lines come a second.
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
        if (status == 401) refuse(bearer)
        connection.errorStream?.close()
        throw HttpFailure(status)
    }

    private fun textOf(connection: HttpURLConnection): String =
        connection.inputStream.bufferedReader().use { it.readText() }
}

/** How an app uses it. */
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
                } catch (failure: IOException) {
                    "nobody knows: ${failure.message}"
                }
                println("${quiz.getString("question")} $choice: $outcome")
            }
            "quiz-results" -> println("It is ${data?.getString("answer")}")
        }
    }
}

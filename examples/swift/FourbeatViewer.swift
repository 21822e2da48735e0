// A viewer of a Fourbeat stream by plain HTTP, for iOS 15 and macOS 12 or later, with Foundation only.
import Foundation

struct ViewCount: Decodable, Sendable {
  let value: Int
  let formatted: String
}

struct Quiz: Decodable, Sendable {
  struct Choice: Decodable, Sendable {
    let count: Int
    let percentage: Int
  }

  let id: String
  let question: String
  /// The choices in the producer's order.
  let order: [String]
  let choices: [String: Choice]
  /// Time to answer, ms.
  let duration: Int
  /// Answers are accepted before this interval.
  let closeInterval: Int
  /// The correct choice; nil before the results.
  let answer: String?
}

enum LiveEvent: Decodable, Sendable {
  case viewCount(ViewCount)
  case quiz(Quiz)
  case quizResults(Quiz)
  /// Call `recordWinner` now if all answers of this viewer were correct.
  case requestQuizWinners
  case quizWinners(Int)
  /// Chat and custom events of the producer, by type.
  case other(String)

  private enum Keys: String, CodingKey { case type, data }
  private struct Winners: Decodable { let count: Int }

  init(from decoder: Decoder) throws {
    let event = try decoder.container(keyedBy: Keys.self)
    let type = try event.decode(String.self, forKey: .type)
    switch type {
    case "view-count": self = .viewCount(try event.decode(ViewCount.self, forKey: .data))
    case "quiz": self = .quiz(try event.decode(Quiz.self, forKey: .data))
    case "quiz-results": self = .quizResults(try event.decode(Quiz.self, forKey: .data))
    case "request-quiz-winners": self = .requestQuizWinners
    case "quiz-winners": self = .quizWinners(try event.decode(Winners.self, forKey: .data).count)
    default: self = .other(type)
    }
  }
}

struct HTTPError: Error {
  let status: Int
  /// Whether a retry would be rejected too.
  var isFinal: Bool { [400, 404, 409].contains(status) }
}

actor FourbeatViewer {
  private let api: String
  private let streamId: String
  private let viewerId: String
  private var token = ""
  private var renewAt = Date.distantPast

  /// - Parameter base: such as `https://live.example`
  init(base: String, streamId: String, viewerId: String) {
    api = base + "/api/v1/"
    self.streamId = streamId
    self.viewerId = viewerId
  }

  /// Sends heartbeats and reads the feed until its task is cancelled.
  func watch(_ onEvent: @escaping @Sendable (LiveEvent) -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.sendHeartbeats() }
      group.addTask { try await self.readFeed(onEvent) }
      try await group.waitForAll()
    }
  }

  /// Sends an answer until its result is known. Resending the same answer is harmless.
  /// - Returns: whether the answer counts; false when it was too late, or an earlier answer counts
  /// - Throws: when the result is still unknown after the quiz's duration and 2 s
  func answer(_ quiz: Quiz, _ choice: String) async throws -> Bool {
    struct Answer: Encodable {
      let streamId: String
      let choice: String
      let closeInterval: Int
    }
    let body = try JSONEncoder().encode(
      Answer(streamId: streamId, choice: choice, closeInterval: quiz.closeInterval))
    let deadline = Date().addingTimeInterval(Double(quiz.duration) / 1_000 + 2)
    while true {
      do {
        try await post("quizzes/\(quiz.id)/answer", body)
        return true
      } catch let error as HTTPError where error.isFinal {
        return false
      } catch {
        if Date() > deadline { throw error }
      }
      try await Task.sleep(nanoseconds: 500_000_000)
    }
  }

  /// Reports this viewer as a winner.
  func recordWinner() async throws {
    try await post("quizzes/\(streamId)/record-winner")
  }

  /// Sends one heartbeat a second, also after failures. Skips those missed while the device slept.
  private func sendHeartbeats() async throws {
    let secondNs: UInt64 = 1_000_000_000
    var dueNs = DispatchTime.now().uptimeNanoseconds
    while true {
      try Task.checkCancellation()
      Task { try? await self.post("view-counts/\(self.streamId)") }
      let nowNs = DispatchTime.now().uptimeNanoseconds
      while dueNs <= nowNs { dueNs += secondNs }
      try await Task.sleep(nanoseconds: dueNs - nowNs)
    }
  }

  private func readFeed(_ onEvent: @Sendable (LiveEvent) -> Void) async throws {
    struct Interval: Decodable {
      let interval: Int
      let events: [LiveEvent]
    }
    var nextInterval: Int?
    while true {
      do {
        // Catch up on missed intervals of the last minute (240 intervals).
        let now = try await currentInterval()
        let from = max(nextInterval ?? now, now - 240)
        var request = try await asViewer("events-streams/\(streamId)?interval=\(from)")
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        let (bytes, response) = try await URLSession.shared.bytes(for: request)
        try check(response)
        for try await line in bytes.lines where line.hasPrefix("data:") {
          let data = Data(line.dropFirst("data:".count).utf8)
          let interval = try JSONDecoder().decode(Interval.self, from: data)
          nextInterval = interval.interval + 1
          interval.events.forEach(onEvent)
        }
      } catch {
        try Task.checkCancellation()
      }
      // The token expired, or the connection broke. The random delay spreads the load.
      try await Task.sleep(nanoseconds: UInt64.random(in: 500_000_000...2_000_000_000))
    }
  }

  private func currentInterval() async throws -> Int {
    struct Time: Decodable { let interval: Int }
    let (data, response) = try await URLSession.shared.data(for: try requestOf("time"))
    try check(response)
    return try JSONDecoder().decode(Time.self, from: data).interval
  }

  private func post(_ path: String, _ body: Data? = nil) async throws {
    var request = try await asViewer(path)
    request.httpMethod = "POST"
    request.httpBody = body
    let (_, response) = try await URLSession.shared.data(for: request)
    try check(response)
  }

  private func asViewer(_ path: String) async throws -> URLRequest {
    if token.isEmpty || Date() > renewAt { try await renewToken() }
    var request = try requestOf(path)
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    return request
  }

  /// Tokens expire after ten minutes; this one is renewed after eight.
  private func renewToken() async throws {
    struct Answer: Decodable { let token: String }
    var request = try requestOf("token")
    request.httpMethod = "POST"
    request.httpBody = try JSONEncoder().encode([
      "stream_id": streamId, "unique_user_identifier": viewerId,
    ])
    let (data, response) = try await URLSession.shared.data(for: request)
    try check(response)
    token = try JSONDecoder().decode(Answer.self, from: data).token
    renewAt = Date().addingTimeInterval(8 * 60)
  }

  private func requestOf(_ path: String) throws -> URLRequest {
    guard let url = URL(string: api + path) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    // Seconds without any data; the feed sends four messages a second.
    request.timeoutInterval = 5
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    return request
  }

  private func check(_ response: URLResponse) throws {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    if status == 401 { token = "" }
    guard (200..<300).contains(status) else { throw HTTPError(status: status) }
  }
}

/// How an app uses the actor.
func watchAndAnswer() async throws {
  let viewer = FourbeatViewer(base: "https://live.example", streamId: "STREAM", viewerId: "user-1")
  try await viewer.watch { event in
    switch event {
    case .viewCount(let count):
      print("\(count.formatted) watching")
    case .quiz(let quiz):
      Task {
        let isCounted = try await viewer.answer(quiz, quiz.order[0])
        print("\(quiz.question) \(quiz.order[0]): \(isCounted ? "counted" : "not counted")")
      }
    case .quizResults(let quiz):
      print("Correct answer: \(quiz.answer ?? "")")
    case .requestQuizWinners, .quizWinners, .other:
      break
    }
  }
}

#!/bin/sh
# A viewer by plain HTTP: sends heartbeats, reads the feed, answers each quiz with its first choice.
# usage: sh viewer.sh https://live.example STREAM
set -eu
api=$1/api/v1
stream=$2

# Prints the first JSON member of this name: a number, or a string with its quotes.
member() {
  grep -oE "\"$1\":([0-9]+|\"([^\"\\\\]|\\\\.)*\")" | head -n 1 | cut -d: -f2-
}

# 1. Get a token. It identifies this viewer in this stream for ten minutes.
token=$(curl -fsS "$api/token" -H 'Content-Type: application/json' \
  -d "{\"stream_id\": \"$stream\", \"unique_user_identifier\": \"curl-$$\"}" | member token | tr -d '"')
as_viewer() {
  curl -fsS -H "Authorization: Bearer $token" "$@"
}

# 2. Send a heartbeat every second while this script runs. Each counts this viewer for at least 1 s.
while kill -0 $$ 2>/dev/null; do
  as_viewer -X POST "$api/view-counts/$stream" &
  sleep 1
done &

# 3. Read the current interval. The response arrives when the interval has ended.
interval=$(curl -fsS "$api/time" | member interval)
as_viewer "$api/events-streams/$stream?interval=$interval"
echo

# 4. Read all later intervals in one request, which ends when the token expires.
as_viewer -N -H 'Accept: text/event-stream' "$api/events-streams/$stream?interval=$((interval + 1))" |
  while read -r line; do
    case $line in
      *'"type":"view-count"'*)
        echo "watching: $(printf '%s\n' "$line" | member value)"
        ;;
    esac
    # An interval may have several events.
    case $line in
      *'"type":"quiz-results"'*)
        echo "results: ${line#data: }"
        ;;
    esac
    case $line in
      *'"type":"quiz",'*)
        quiz=${line#*'"type":"quiz",'}
        id=$(printf '%s\n' "$quiz" | member id | tr -d '"')
        close_interval=$(printf '%s\n' "$quiz" | member closeInterval)
        choice=$(printf '%s\n' "$quiz" | grep -oE '"order":\["([^"\\]|\\.)*"' | cut -d'[' -f2-)
        # 5. Send the answer. Resending the same answer is harmless.
        if as_viewer "$api/quizzes/$id/answer" -H 'Content-Type: application/json' \
          -d "{\"streamId\": \"$stream\", \"choice\": $choice, \"closeInterval\": $close_interval}"; then
          echo "answered: $choice"
        fi
        ;;
    esac
  done

#!/bin/sh
# A viewer by plain HTTP: is counted, reads the feed, and answers each quiz with its first choice.
# usage: sh viewer.sh https://live.example STREAM
set -eu
api=$1/api/v1
stream=$2

# The first member of this name in JSON, as it is written there: 12, or "text" with its quotes.
member() {
  grep -oE "\"$1\":([0-9]+|\"([^\"\\\\]|\\\\.)*\")" | head -n 1 | cut -d: -f2-
}

# 1. A token: who we are, for this stream and ten minutes.
token=$(curl -fsS "$api/token" -H 'Content-Type: application/json' \
  -d "{\"stream_id\": \"$stream\", \"unique_user_identifier\": \"curl-$$\"}" | member token | tr -d '"')
as_viewer() {
  curl -fsS -H "Authorization: Bearer $token" "$@"
}

# 2. A heartbeat each second, for as long as this script runs. Each counts us for a second.
while kill -0 $$ 2>/dev/null; do
  as_viewer -X POST "$api/view-counts/$stream" &
  sleep 1
done &

# 3. Which interval it is. It is held until it is over, and then the same for everybody.
interval=$(curl -fsS "$api/time" | member interval)
as_viewer "$api/events-streams/$stream?interval=$interval"
echo

# 4. All that follow, in one request. It ends with the token.
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
        close=$(printf '%s\n' "$quiz" | member closeInterval)
        choice=$(printf '%s\n' "$quiz" | grep -oE '"order":\["([^"\\]|\\.)*"' | cut -d'[' -f2-)
        # 5. The answer. The same again does no harm.
        if as_viewer "$api/quizzes/$id/answer" -H 'Content-Type: application/json' \
          -d "{\"streamId\": \"$stream\", \"choice\": $choice, \"closeInterval\": $close}"; then
          echo "answered: $choice"
        fi
        ;;
    esac
  done

import { intervalAt } from '../../protocol/interval.ts';
import { answersTo } from '../run/quizzes.ts';
import { type Latencies, latenciesOf } from './latency.ts';
import { readTask, tell } from './task.ts';
import { type Sending, ViewersLoad } from './viewers-load.ts';
import { ViewersRequests, type ViewersRound } from './viewers-requests.ts';

/** What this program does, on the core of the load: a hall answers a quiz, and then wants to have won. */
export interface CloseTask {
  readonly url: string;
  readonly streamId: string;
  readonly connections: number;
  readonly tokens: readonly string[];
  /** How long the hall takes to answer, and to report. */
  readonly answersMs: number;
  readonly reportsMs: number;
}

/** What became of the answers, or of the reports. */
export interface CloseOutcome extends Latencies {
  readonly accepted: number;
  /** A wrong answer, if there was one. */
  readonly wrong: string | null;
  readonly lateP99Ms: number;
}

const { url, streamId, connections, tokens, answersMs, reportsMs } = await readTask<CloseTask>();
const load = new ViewersLoad();
await load.connect(url, connections);
const events = feedEvents();
tell('connected');
const quiz = await events('quiz');
const answers = answersTo(streamId, quiz as { id: string; closeInterval: number });
tell('answers', outcomeOf(await send(answers, answersMs)));
await events('request-quiz-winners');
tell('reports', outcomeOf(await send(reports(answers), reportsMs)));
process.exit();

function send(round: ViewersRound, withinMs: number): Promise<Sending> {
  return load.sendWithin(new ViewersRequests(url, tokens, [round]), withinMs);
}

/** Who gave the first answer, which is correct, won. */
function reports({ requests }: ViewersRound): ViewersRound {
  return {
    path: `/api/v1/quizzes/${streamId}/record-winner`,
    requests: requests.map((_, at) => ({ body: '', status: at === 0 ? 204 : 401 })),
  };
}

function outcomeOf({ accepted, wrong, latencies, lateness }: Sending): CloseOutcome {
  const lateP99Ms = latenciesOf(lateness).p99Ms;
  return { accepted: accepted[0] ?? 0, wrong, lateP99Ms, ...latenciesOf(latencies) };
}

/** Waits for the next event of a type in the feed, as one of the viewers hears of it. */
function feedEvents(): (type: string) => Promise<unknown> {
  const from = intervalAt(Date.now());
  const messages = fetch(`${url}/api/v1/events-streams/${streamId}?interval=${from}`, {
    headers: { Authorization: `Bearer ${tokens[0]}`, Accept: 'text/event-stream' },
  }).then(({ body }) => (body as ReadableStream<Uint8Array>).getReader());
  const decoder = new TextDecoder();
  let text = '';
  return async (type) => {
    const reader = await messages;
    for (;;) {
      const [message, ...rest] = text.split('\n\n');
      if (message !== undefined && rest.length > 0) {
        text = rest.join('\n\n');
        const data = /^data: (.*)$/m.exec(message)?.[1];
        const { events } = JSON.parse(data ?? '{"events":[]}');
        const event = events.find((one: { type: string }) => one.type === type);
        if (event) return event.data;
        continue;
      }
      const { done, value } = await reader.read();
      if (done) throw new Error('the event stream ended');
      text += decoder.decode(value, { stream: true });
    }
  };
}

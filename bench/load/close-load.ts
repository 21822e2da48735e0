import { intervalAt } from '../../protocol/interval.ts';
import { answerRequests } from '../run/quizzes.ts';
import { type Latencies, latenciesOf } from './latency.ts';
import { readTask, report } from './task.ts';
import { type SendResult, ViewersLoad } from './viewers-load.ts';
import { type RequestBatch, ViewersRequests } from './viewers-requests.ts';

/** The task of this program on the load core: viewers answer a quiz and report wins. */
export interface CloseTask {
  readonly url: string;
  readonly streamId: string;
  readonly connections: number;
  readonly tokens: readonly string[];
  /** Time in which the viewers send their answers, and their winner reports. */
  readonly answersMs: number;
  readonly reportsMs: number;
}

/** The result of one phase: of the answers, or of the winner reports. */
export interface CloseOutcome extends Latencies {
  readonly accepted: number;
  /** The first incorrect response, if any. */
  readonly incorrect: string | null;
  readonly sendDelayP99Ms: number;
}

const { url, streamId, connections, tokens, answersMs, reportsMs } = await readTask<CloseTask>();
const load = new ViewersLoad();
await load.connect(url, connections);
const events = feedEvents();
report('connected');
const quiz = await events('quiz');
const answers = answerRequests(streamId, quiz as { id: string; closeInterval: number });
report('answers', outcomeOf(await send(answers, answersMs)));
await events('request-quiz-winners');
report('reports', outcomeOf(await send(reports(answers), reportsMs)));
process.exit();

function send(batch: RequestBatch, withinMs: number): Promise<SendResult> {
  return load.sendWithin(new ViewersRequests(url, tokens, [batch]), withinMs);
}

/** Winner reports: 204 is correct for viewers with the first, correct choice; 401 for others. */
function reports({ requests }: RequestBatch): RequestBatch {
  return {
    path: `/api/v1/quizzes/${streamId}/record-winner`,
    requests: requests.map((_, at) => ({ body: '', status: at === 0 ? 204 : 401 })),
  };
}

function outcomeOf({ accepted, incorrect, latencies, sendDelays }: SendResult): CloseOutcome {
  const sendDelayP99Ms = latenciesOf(sendDelays).p99Ms;
  return { accepted: accepted[0] ?? 0, incorrect, sendDelayP99Ms, ...latenciesOf(latencies) };
}

/** Opens the feed of one viewer. @returns a function that waits for the next event of a type */
function feedEvents(): (type: string) => Promise<unknown> {
  const from = intervalAt(Date.now());
  const opened = fetch(`${url}/api/v1/events-streams/${streamId}?interval=${from}`, {
    headers: { Authorization: `Bearer ${tokens[0]}`, Accept: 'text/event-stream' },
  }).then(({ body }) => (body as ReadableStream<Uint8Array>).getReader());
  const decoder = new TextDecoder();
  let text = '';
  return async (type) => {
    const reader = await opened;
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

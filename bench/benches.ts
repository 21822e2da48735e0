import { answer } from './answer.ts';
import { close } from './close.ts';
import { feed } from './feed.ts';
import { feedLongPoll } from './feed-long-poll.ts';
import { growth } from './growth.ts';
import { heartbeat } from './heartbeat.ts';
import { mixed } from './mixed.ts';
import { push } from './push.ts';
import type { Bench } from './run/bench.ts';
import { token } from './token.ts';
import { viewers } from './viewers.ts';

/** In the order of a whole run. */
export const BENCHES: readonly Bench[] = [
  heartbeat,
  feed,
  feedLongPoll,
  token,
  answer,
  close,
  push,
  mixed,
  viewers,
  growth,
];

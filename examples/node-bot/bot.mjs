// A viewer without a screen: says hello, tells the count, and answers each quiz by chance.
import { join } from '@fourbeat/viewer';

const [baseUrl, streamId] = process.argv.slice(2);
if (!streamId) {
  console.error('usage: node bot.mjs https://live.example STREAM');
  process.exit(2);
}

const viewer = join({ baseUrl, streamId, viewerId: `bot-${process.pid}`, name: 'Bot' });

const saysHello = viewer.on('interval', async () => {
  saysHello();
  await viewer.say('greeting', 'Hello from a bot!').catch(tell);
});

viewer.on('view-count', ({ formatted }) => console.log(`${formatted} watching`));

viewer.on('quiz', async ({ question, order }) => {
  const choice = order[Math.floor(Math.random() * order.length)];
  console.log(`${question} I say: ${choice}`);
  const outcome = await viewer.answer(choice).catch(tell);
  if (outcome) console.log(`My answer: ${outcome}`);
});

viewer.on('quiz-results', ({ answer, choices }) => {
  console.log(`It is ${answer}, said ${choices[answer].percentage} %`);
});

viewer.on('quiz-winners', ({ count }) => {
  console.log(`${count} won${viewer.snapshot.winners.hasWon ? ', and I am one of them' : ''}`);
});

let last = '';
viewer.on('change', ({ state, trouble }) => {
  const now = trouble ? `${state}: ${trouble.message}` : state;
  if (now !== last) console.log(`(${now})`);
  last = now;
  if (state === 'ended') viewer.leave();
});

process.on('SIGINT', () => viewer.leave());

function tell({ message }) {
  console.log(message);
}

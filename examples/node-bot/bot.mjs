// A headless viewer: greets the chat, prints the view count, and answers each quiz at random.
import { join } from '@fourbeat/viewer';

const [baseUrl, streamId] = process.argv.slice(2);
if (!streamId) {
  console.error('usage: node bot.mjs https://live.example STREAM');
  process.exit(2);
}

const viewer = join({ baseUrl, streamId, viewerId: `bot-${process.pid}`, name: 'Bot' });

const stopWaiting = viewer.on('interval', async () => {
  stopWaiting();
  await viewer.sendMessage('greeting', 'Hello from a bot!').catch(printError);
});

viewer.on('view-count', ({ formatted }) => console.log(`${formatted} watching`));

viewer.on('quiz', async ({ question, order }) => {
  const choice = order[Math.floor(Math.random() * order.length)];
  console.log(`${question} I say: ${choice}`);
  const outcome = await viewer.answer(choice).catch(printError);
  if (outcome) console.log(`My answer: ${outcome}`);
});

viewer.on('quiz-results', ({ answer, choices }) => {
  console.log(`It is ${answer}, said ${choices[answer].percentage} %`);
});

viewer.on('quiz-winners', ({ count }) => {
  console.log(`${count} won${viewer.snapshot.winners.hasWon ? ', and I am one of them' : ''}`);
});

let lastStatus = '';
viewer.on('change', ({ state, error }) => {
  const status = error ? `${state}: ${error.message}` : state;
  if (status !== lastStatus) console.log(`(${status})`);
  lastStatus = status;
  if (state === 'ended') viewer.leave();
});

process.on('SIGINT', () => viewer.leave());

function printError({ message }) {
  console.log(message);
}

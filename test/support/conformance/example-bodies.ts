import { randomUUID } from 'node:crypto';
import { type OperationName, PRODUCT } from './operations.ts';

const LINE = { id: randomUUID(), viewer: '', name: '', text: 'Hm?', kind: 'purchase', at: 0 };
const IMPORT = {
  format: 'fourbeat-json',
  text: JSON.stringify([{ question: 'Q?', choices: ['a', 'b'], answer: 'a' }]),
};

/** A short valid body of each studio operation that takes one, without ids of other resources. */
export const EXAMPLE_BODIES: Partial<Record<OperationName, Readonly<Record<string, unknown>>>> = {
  createApiToken: { name: 'laptop' },
  createStream: { title: 'A show' },
  patchStream: { title: 'Another show' },
  createQuiz: { question: 'Q?', choices: ['a', 'b'], answer: 'a', duration: 1_000 },
  patchQuiz: { question: 'Q!' },
  orderQuizzes: { order: [] },
  importQuizzes: IMPORT,
  previewImport: IMPORT,
  createRehearsal: { viewers: 1 },
  sendEvent: { type: 'lights', data: null },
  patchMember: { role: 'host' },
  createWebhook: { url: 'https://hooks.example.org/', events: ['winners'] },
  patchWebhook: { enabled: false },
  patchChatMode: { paused: true },
  hideChatLines: { ids: [LINE.id] },
  pinChatLine: { line: null },
  queueQuestion: { state: 'open', line: LINE },
  createProduct: PRODUCT,
  patchProduct: { price: 1 },
  requestContacts: { note: 'Who are you?' },
};

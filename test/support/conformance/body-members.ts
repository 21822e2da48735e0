import type { OperationName } from './operations.ts';

/** The kind of a body member; malformed-bodies.ts has the invalid values of each kind. */
type MemberKind =
  | { is: 'uuid' }
  | { is: 'email' }
  | { is: 'text'; max: number }
  /** A string that is only compared, so that any value is valid. */
  | { is: 'key' }
  | { is: 'integer'; min: number; max?: number }
  /** A fraction, 0 or more. */
  | { is: 'share'; max: number }
  | { is: 'boolean' }
  | { is: 'url' }
  | { is: 'one of' }
  | { is: 'texts' }
  | { is: 'ids' }
  /** A list of ids of chat messages. */
  | { is: 'messages' }
  /** A list of values of an enumeration. */
  | { is: 'choices' }
  | { is: 'object' };

/** A member of a body. */
export type Member = MemberKind & { readonly optional?: true; readonly nullable?: true };

const optional = { optional: true } as const;
const streamMembers = (titleOptional: { optional?: true }): Record<string, Member> => ({
  title: { is: 'text', max: 200, ...titleOptional },
  dash_url: { is: 'url', ...optional, nullable: true },
  hls_url: { is: 'url', ...optional, nullable: true },
  unlisted: { is: 'boolean', ...optional },
  latencyAllowance: { is: 'integer', min: 0, max: 60_000, ...optional },
  recording: { is: 'boolean', ...optional },
  autoStart: { is: 'boolean', ...optional },
  keepOpen: { is: 'boolean', ...optional },
  description: { is: 'text', max: 500, ...optional, nullable: true },
  poster_url: { is: 'url', ...optional, nullable: true },
  logo_url: { is: 'url', ...optional, nullable: true },
  color: { is: 'one of', ...optional, nullable: true },
  startsAt: { is: 'integer', min: 0, ...optional, nullable: true },
});
const quizMembers = (allOptional: { optional?: true }): Record<string, Member> => ({
  question: { is: 'text', max: 500, ...allOptional },
  choices: { is: 'texts', ...allOptional },
  answer: { is: 'text', max: 200, ...allOptional },
  duration: { is: 'integer', min: 1_000, max: 600_000, ...allOptional },
  reveal: { is: 'one of', ...optional },
});

const productMembers = (allOptional: { optional?: true }): Record<string, Member> => ({
  name: { is: 'text', max: 80, ...allOptional },
  picture_url: { is: 'url', ...optional, nullable: true },
  price: { is: 'integer', min: 0, max: 1_000_000_000_000, ...allOptional },
  currency: { is: 'one of', ...allOptional },
  url: { is: 'url', ...allOptional },
  stock: { is: 'integer', min: 0, max: 1_000_000_000, ...optional, nullable: true },
});

const IMPORT: Record<string, Member> = {
  format: { is: 'one of' },
  text: { is: 'key' },
  duration: { is: 'integer', min: 1_000, max: 600_000, ...optional },
};

/** The members of every body of both APIs. */
export const MEMBERS: Partial<Record<OperationName, Record<string, Member>>> = {
  createToken: { stream_id: { is: 'uuid' }, unique_user_identifier: { is: 'text', max: 256 } },
  answerQuiz: {
    streamId: { is: 'uuid' },
    choice: { is: 'key' },
    closeInterval: { is: 'integer', min: Number.MIN_SAFE_INTEGER },
  },
  postChat: {
    kind: { is: 'one of' },
    text: { is: 'text', max: 280 },
    name: { is: 'text', max: 40, ...optional },
  },
  signIn: { email: { is: 'email' }, password: { is: 'text', max: 200 } },
  patchOwnMember: {
    name: { is: 'text', max: 80, ...optional },
    password: { is: 'text', max: 200, ...optional },
    currentPassword: { is: 'text', max: 200 },
  },
  invite: { email: { is: 'email' }, role: { is: 'one of' } },
  lookAtLink: { token: { is: 'text', max: 100 } },
  acceptLink: {
    token: { is: 'text', max: 100 },
    name: { is: 'text', max: 80, ...optional },
    password: { is: 'text', max: 200 },
  },
  patchMember: { role: { is: 'one of' } },
  createApiToken: { name: { is: 'text', max: 80 } },
  createStream: streamMembers({}),
  patchStream: streamMembers(optional),
  endStream: { at: { is: 'integer', min: 0, ...optional } },
  createQuiz: quizMembers({}),
  patchQuiz: quizMembers(optional),
  orderQuizzes: { order: { is: 'ids' }, revision: { is: 'integer', min: 0, ...optional } },
  importQuizzes: IMPORT,
  previewImport: IMPORT,
  requestContacts: { note: { is: 'text', max: 300 } },
  saveOwnContact: {
    roundId: { is: 'uuid' },
    name: { is: 'text', max: 80 },
    contact: { is: 'text', max: 200 },
  },
  createProduct: productMembers({}),
  patchProduct: productMembers(optional),
  sendEvent: { type: { is: 'text', max: 40 }, data: { is: 'object' } },
  createRehearsal: {
    viewers: { is: 'integer', min: 1, max: 500 },
    latencyMs: { is: 'integer', min: 0, max: 10_000, ...optional },
    lossShare: { is: 'share', max: 0.5, ...optional },
    botShare: { is: 'share', max: 1, ...optional },
    lateShare: { is: 'share', max: 1, ...optional },
  },
  patchChatMode: {
    slowModeMs: { is: 'integer', min: 0, max: 300_000, ...optional },
    paused: { is: 'boolean', ...optional },
  },
  hideChatLines: { ids: { is: 'messages' } },
  pinChatLine: { line: { is: 'object', nullable: true } },
  muteViewer: {
    minutes: { is: 'integer', min: 1, max: 1_440, ...optional },
    name: { is: 'text', max: 40, ...optional },
  },
  banViewer: { name: { is: 'text', max: 40, ...optional } },
  queueQuestion: { state: { is: 'one of' }, line: { is: 'object' } },
  createWebhook: {
    url: { is: 'url' },
    events: { is: 'choices' },
    enabled: { is: 'boolean', ...optional },
  },
  patchWebhook: {
    url: { is: 'url', ...optional },
    events: { is: 'choices', ...optional },
    enabled: { is: 'boolean', ...optional },
  },
};

import { z } from 'zod';
import { CHAT_NAME_CHARS, CHAT_TEXT_CHARS, HEARTS_MAX } from './limits.ts';
import { chatModeSchema, chatPinSchema, hiddenMessagesSchema } from './moderation.ts';
import { shownProductSchema } from './products.ts';
import { quizResultsSchema, quizSchema } from './quizzes.ts';
import { text, unixMs, wholeNumber } from './text.ts';
import { viewCountSchema } from './view-counts.ts';
import { winnerContactEventSchema } from './winner-contacts.ts';

/** A message in a `chats` event; `at` is Unix ms, `viewer` the sender's opaque id. */
export const chatElementSchema = z
  .object({
    id: z.string(),
    viewer: z.string(),
    name: z.string(),
    text: z.string(),
    at: unixMs,
  })
  .meta({ id: 'ChatElement' });
export type ChatElement = z.infer<typeof chatElementSchema>;

const messages = z.array(chatElementSchema);
export const chatsSchema = z
  .object({
    messages: messages,
    questions: messages,
    greetings: messages,
    cheers: messages,
    purchases: messages,
    hearts: wholeNumber.describe('Number of hearts sent in this interval'),
    discounts: wholeNumber.describe('Number of discounts used in this interval'),
  })
  .meta({ id: 'Chats' });
export type Chats = z.infer<typeof chatsSchema>;

const INTERFACE_TYPES = [
  'view-count',
  'chats',
  'quiz',
  'quiz-results',
  'request-quiz-winners',
  'quiz-winners',
] as const;

/** Event types of chat moderation (SPEC C). */
export const MODERATION_TYPES = ['chat-mode', 'chat-hidden', 'chat-pinned'] as const;

/** Event types of the service, which custom events may not use. */
export const EVENT_TYPES = [
  ...INTERFACE_TYPES,
  ...MODERATION_TYPES,
  'product',
  'winner-contact',
] as const;

const event = <T extends string, D extends z.ZodType>(type: T, data: D) =>
  z.object({ type: z.literal(type), data });

export const winnersCountSchema = z.object({ count: wholeNumber }).meta({ id: 'QuizWinners' });

/** The type of a producer's custom event: never an event type of the service. */
export const customTypeSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be a-z, 0-9 and "-", starting with a letter, at most 40')
  .refine((type) => !(EVENT_TYPES as readonly string[]).includes(type), {
    message: 'must not be an event type of the service',
    abort: true,
  })
  .meta({ not: { enum: [...EVENT_TYPES] }, description: 'The type of a custom event' });

export const feedEventSchema = z
  .union([
    event('view-count', viewCountSchema),
    event('chats', chatsSchema),
    event('quiz', quizSchema),
    event('quiz-results', quizResultsSchema),
    event('request-quiz-winners', z.null()),
    event('quiz-winners', winnersCountSchema),
    event('chat-mode', chatModeSchema),
    event('chat-hidden', hiddenMessagesSchema),
    event('chat-pinned', chatPinSchema),
    event('winner-contact', winnerContactEventSchema),
    event('product', shownProductSchema.nullable()),
    z.object({ type: customTypeSchema, data: z.looseObject({}).nullable() }),
  ])
  .meta({ id: 'FeedEvent' });
export type FeedEvent = z.infer<typeof feedEventSchema>;

const EXAMPLE_EVENTS_INTERVAL = {
  interval: 7_040_000_003,
  events: [
    { type: 'view-count', data: { value: 1234, formatted: '1.2K' } },
    {
      type: 'quiz',
      data: {
        id: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
        streamId: '0f8fad5b-d9cb-469f-a165-70867728950e',
        created: 1_760_000_000_600,
        duration: 10_000,
        closeInterval: 7_040_000_043,
        question: 'Which planet is the largest?',
        choices: {
          Mars: { count: 0, percentage: 0 },
          Jupiter: { count: 0, percentage: 0 },
          Venus: { count: 0, percentage: 0 },
        },
        order: ['Mars', 'Jupiter', 'Venus'],
      },
    },
  ],
};

/** All events of one 250-ms interval (interface, Events interval). */
export const eventsIntervalSchema = z
  .object({ interval: wholeNumber, events: z.array(feedEventSchema) })
  .meta({ id: 'EventsInterval', examples: [EXAMPLE_EVENTS_INTERVAL] });
export type EventsInterval = z.infer<typeof eventsIntervalSchema>;

export const CHAT_KINDS = ['message', 'question', 'greeting', 'cheer'] as const;
export type ChatKind = (typeof CHAT_KINDS)[number];

/** A viewer's chat post: a text message, or hearts. */
export const chatPostSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.enum(CHAT_KINDS),
      text: text(CHAT_TEXT_CHARS),
      name: text(CHAT_NAME_CHARS).optional(),
    }),
    z.object({ kind: z.literal('heart'), count: z.int().min(1).max(HEARTS_MAX).default(1) }),
  ])
  .meta({
    id: 'ChatPost',
    examples: [
      { kind: 'message', text: 'Good evening!', name: 'Ada' },
      { kind: 'heart', count: 3 },
    ],
  });
export type ChatPost = z.infer<typeof chatPostSchema>;

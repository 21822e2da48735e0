import { z } from 'zod';
import {
  CHAT_NAME_CHARS,
  CHAT_TEXT_CHARS,
  HIDDEN_PER_CALL_MAX,
  MUTE_MAX_MINUTES,
  SLOW_MODE_MAX_MS,
} from './limits.ts';
import { text, unixMs } from './text.ts';

/** What a line of the chat is. */
export const MESSAGE_KINDS = ['message', 'question', 'greeting', 'cheer', 'purchase'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** The id of a line: a uuid of a viewer's, "p" and a number of a purchase. */
export const messageId = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the id of a line of the chat');

/** The opaque id of a viewer in a stream, as lines of the chat have it. */
export const viewerId = z.string().regex(/^[A-Za-z0-9_-]{22}$/, 'must be the id of a viewer');

/** How the chat of a stream goes; the data of an event `chat-mode`. */
export const chatModeSchema = z
  .object({
    slowModeMs: z
      .int()
      .min(0)
      .max(SLOW_MODE_MAX_MS)
      .meta({ description: 'A viewer writes one line in so many ms; 0: as many as they like' }),
    paused: z.boolean().meta({ description: 'Nobody can write' }),
  })
  .meta({ id: 'ChatMode', examples: [{ slowModeMs: 10_000, paused: false }] });
export type ChatMode = z.infer<typeof chatModeSchema>;

export const chatModePatchSchema = z
  .strictObject(chatModeSchema.shape)
  .partial()
  .refine((body) => Object.keys(body).length > 0, 'name at least one field to change')
  .meta({ id: 'ChatModePatch', minProperties: 1, examples: [{ slowModeMs: 10_000 }] });
export type ChatModePatch = z.infer<typeof chatModePatchSchema>;

/** Lines that are shown no longer; the data of an event `chat-hidden`. */
export const hiddenMessagesSchema = z
  .object({
    ids: z
      .array(messageId)
      .min(1, 'must name a line')
      .max(HIDDEN_PER_CALL_MAX)
      .refine((ids) => new Set(ids).size === ids.length, 'must be distinct')
      .meta({ description: 'Of the lines, as the chat has them' }),
  })
  .meta({ id: 'HiddenLines', examples: [{ ids: ['1b4e28ba-2fa1-4d3b-883f-0016d3cca427'] }] });
export type HiddenMessages = z.infer<typeof hiddenMessagesSchema>;

export const hideMessagesSchema = z
  .strictObject(hiddenMessagesSchema.shape)
  .meta({ id: 'HideLines', examples: [{ ids: ['1b4e28ba-2fa1-4d3b-883f-0016d3cca427'] }] });

/** The last moment that a date can be. */
const DATE_MAX_MS = 8_640_000_000_000_000;

/** A line of the chat that is set apart from the others; a purchase is of no viewer. */
export const chatMessageSchema = z
  .object({
    id: messageId,
    viewer: z.union([viewerId, z.literal('')], 'must be the id of a viewer, or empty'),
    name: z.union([text(CHAT_NAME_CHARS), z.literal('')]).meta({ description: 'May be empty' }),
    text: text(CHAT_TEXT_CHARS),
    kind: z.enum(MESSAGE_KINDS),
    at: unixMs.max(DATE_MAX_MS),
  })
  .meta({
    id: 'KeptLine',
    examples: [
      {
        id: '1b4e28ba-2fa1-4d3b-883f-0016d3cca427',
        viewer: 'dGhpcyBpcyBhIHZpZXdlcg',
        name: 'Ada',
        text: 'Good evening!',
        kind: 'message',
        at: 1_760_000_000_000,
      },
    ],
  });
export type StoredChatMessage = z.infer<typeof chatMessageSchema>;

/** The line that is shown above the chat; the data of an event `chat-pinned`. */
export const chatPinSchema = z
  .object({ line: chatMessageSchema.nullable().meta({ description: 'null: none' }) })
  .meta({ id: 'ChatPin' });
export type ChatPin = z.infer<typeof chatPinSchema>;

/** A line as a request names it. */
const messageInput = z.strictObject(chatMessageSchema.shape).meta({ id: 'NamedLine' });

export const pinMessageSchema = z
  .strictObject({ line: messageInput.nullable().meta({ description: 'null: none' }) })
  .meta({ id: 'PinLine' });

/** How the chat goes, for those who run the show. */
export const chatStateSchema = chatModeSchema
  .extend({ pinned: chatMessageSchema.nullable().meta({ description: 'null: none is' }) })
  .meta({ id: 'ChatState', examples: [{ slowModeMs: 10_000, paused: false, pinned: null }] });
export type ChatState = z.infer<typeof chatStateSchema>;

/** How the chat goes, for a viewer who comes late: what events told before. */
export const viewerChatSchema = z
  .object({
    slow_mode_ms: chatModeSchema.shape.slowModeMs,
    paused: chatModeSchema.shape.paused,
    pinned: chatStateSchema.shape.pinned,
    hidden: z
      .array(messageId)
      .meta({ description: 'The ids of the lines that were hidden last, the newest first' }),
  })
  .meta({ id: 'ViewersChat' });
export type ViewerChat = z.infer<typeof viewerChatSchema>;

const displayName = text(CHAT_NAME_CHARS)
  .optional()
  .meta({ description: 'What they called themselves, for the list' });

export const muteSchema = z
  .strictObject({
    minutes: z
      .int()
      .min(1)
      .max(MUTE_MAX_MINUTES)
      .optional()
      .meta({ description: 'For the whole show when it is left out' }),
    name: displayName,
  })
  .meta({ id: 'Mute', examples: [{ minutes: 10, name: 'Ada' }] });

export const banSchema = z
  .strictObject({ name: displayName })
  .meta({ id: 'Ban', examples: [{ name: 'Ada' }] });

export const RESTRICTIONS = ['muted', 'banned'] as const;
export type Restriction = (typeof RESTRICTIONS)[number];

/** A viewer who may not write, or may not be there. */
export const restrictedViewerSchema = z
  .object({
    viewer: z.string(),
    name: z.string().meta({ description: 'As it was given; may be empty' }),
    kind: z.enum(RESTRICTIONS),
    until: unixMs.nullable().meta({ description: 'null: for the whole show' }),
    by: z
      .string()
      .nullable()
      .meta({ description: 'The name of the member; null: a service token' }),
    at: unixMs.meta({ description: 'Since when' }),
  })
  .meta({
    id: 'RestrictedViewer',
    examples: [
      {
        viewer: 'dGhpcyBpcyBhIHZpZXdlcg',
        name: 'Ada',
        kind: 'muted',
        until: 1_760_000_600_000,
        by: 'Grace',
        at: 1_760_000_000_000,
      },
    ],
  });
export type RestrictedViewer = z.infer<typeof restrictedViewerSchema>;

export const QUESTION_STATES = ['open', 'answered', 'dismissed'] as const;
export type QuestionState = (typeof QUESTION_STATES)[number];

const questionState = z.enum(QUESTION_STATES);

export const questionPostSchema = z
  .strictObject({
    state: questionState,
    line: messageInput,
  })
  .meta({ id: 'QuestionPost' });

/** A line of the chat in the queue of questions. */
export const queuedQuestionSchema = z
  .object({
    state: questionState,
    line: chatMessageSchema,
    by: z
      .string()
      .nullable()
      .meta({ description: 'Who gave it this state; null: a service token' }),
    at: unixMs.meta({ description: 'When it got this state' }),
  })
  .meta({ id: 'QueuedQuestion' });
export type QueuedQuestion = z.infer<typeof queuedQuestionSchema>;

export const questionsQuerySchema = z.object({
  state: questionState.optional().meta({ description: 'Those in this state alone' }),
});

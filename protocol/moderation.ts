import { z } from 'zod';
import {
  CHAT_NAME_CHARS,
  CHAT_RECENT,
  CHAT_TEXT_CHARS,
  HIDDEN_PER_CALL_MAX,
  MESSAGE_ID,
  MESSAGE_KINDS,
  MUTE_MAX_MINUTES,
  SLOW_MODE_MAX_MS,
} from './limits.ts';
import { patchOf, text, unixMs } from './text.ts';

/** The id of a chat message: a uuid or, for a purchase, "p" and a number. */
export const messageId = z.string().regex(MESSAGE_ID, 'must be the id of a chat message');

/** The opaque id of a viewer in a stream, as in chat messages. */
export const viewerId = z.string().regex(/^[A-Za-z0-9_-]{22}$/, 'must be the id of a viewer');

/** Slow mode and pause of a chat; the data of a `chat-mode` event. */
export const chatModeSchema = z
  .object({
    slowModeMs: z
      .int()
      .min(0)
      .max(SLOW_MODE_MAX_MS)
      .describe('Minimum time between two messages of a viewer, ms; 0: no limit'),
    paused: z.boolean().describe('Whether the chat is paused for all viewers'),
  })
  .meta({ id: 'ChatMode', examples: [{ slowModeMs: 10_000, paused: false }] });
export type ChatMode = z.infer<typeof chatModeSchema>;

export const chatModePatchSchema = patchOf(chatModeSchema.shape).meta({
  id: 'ChatModePatch',
  minProperties: 1,
  examples: [{ slowModeMs: 10_000 }],
});
export type ChatModePatch = z.infer<typeof chatModePatchSchema>;

/** Hidden chat messages; the data of a `chat-hidden` event. */
export const hiddenMessagesSchema = z
  .object({
    ids: z
      .array(messageId)
      .min(1, 'must contain the id of a message')
      .max(HIDDEN_PER_CALL_MAX)
      .refine((ids) => new Set(ids).size === ids.length, 'must be distinct')
      .describe('Ids of the messages'),
  })
  .meta({ id: 'HiddenMessages', examples: [{ ids: ['1b4e28ba-2fa1-4d3b-883f-0016d3cca427'] }] });
export type HiddenMessages = z.infer<typeof hiddenMessagesSchema>;

export const hideMessagesSchema = z
  .strictObject(hiddenMessagesSchema.shape)
  .meta({ id: 'HideMessages', examples: [{ ids: ['1b4e28ba-2fa1-4d3b-883f-0016d3cca427'] }] });

const EXAMPLE_STORED_CHAT_MESSAGE = {
  id: '1b4e28ba-2fa1-4d3b-883f-0016d3cca427',
  viewer: 'dGhpcyBpcyBhIHZpZXdlcg',
  name: 'Ada',
  text: 'Good evening!',
  kind: 'message',
  at: 1_760_000_000_000,
};

/** A chat message that is pinned or queued. `viewer` of a purchase is empty. */
export const chatMessageSchema = z
  .object({
    id: messageId,
    viewer: z.union([viewerId, z.literal('')], 'must be the id of a viewer, or empty'),
    name: z
      .union([text(CHAT_NAME_CHARS), z.literal('')])
      .describe('Name of the viewer; may be empty'),
    text: text(CHAT_TEXT_CHARS),
    kind: z.enum(MESSAGE_KINDS),
    at: unixMs,
  })
  .meta({ id: 'StoredChatMessage', examples: [EXAMPLE_STORED_CHAT_MESSAGE] });
export type StoredChatMessage = z.infer<typeof chatMessageSchema>;

/** The message pinned above the chat; the data of a `chat-pinned` event. */
export const chatPinSchema = z
  .object({ line: chatMessageSchema.nullable().describe('The pinned message; null: none') })
  .meta({ id: 'ChatPin' });

/** A chat message in a request. */
const messageInput = z.strictObject(chatMessageSchema.shape).meta({ id: 'ChatMessageInput' });

export const pinMessageSchema = z
  .strictObject({ line: messageInput.nullable().describe('The pinned message; null: none') })
  .meta({ id: 'PinMessage' });

export const chatStateSchema = chatModeSchema
  .extend({ pinned: chatMessageSchema.nullable().describe('The pinned message; null: none') })
  .meta({ id: 'ChatState', examples: [{ slowModeMs: 10_000, paused: false, pinned: null }] });
export type ChatState = z.infer<typeof chatStateSchema>;

/** The state of a chat for a viewer who joins late: the result of earlier events. */
export const viewerChatSchema = z
  .object({
    slow_mode_ms: chatModeSchema.shape.slowModeMs,
    paused: chatModeSchema.shape.paused,
    pinned: chatStateSchema.shape.pinned,
    hidden: z.array(messageId).describe('Ids of the most recently hidden messages, newest first'),
    recent: z
      .array(chatMessageSchema)
      .describe(
        `The newest ${CHAT_RECENT} messages that the feed carried and that are not hidden, oldest first`,
      ),
  })
  .meta({ id: 'ViewersChat' });
export type ViewerChat = z.infer<typeof viewerChatSchema>;

const displayName = text(CHAT_NAME_CHARS)
  .optional()
  .describe('Display name of the viewer, for the list of restricted viewers');

export const muteSchema = z
  .strictObject({
    minutes: z
      .int()
      .min(1)
      .max(MUTE_MAX_MINUTES)
      .optional()
      .describe('Duration of the mute; by default the whole show'),
    name: displayName,
  })
  .meta({ id: 'Mute', examples: [{ minutes: 10, name: 'Ada' }] });

export const banSchema = z
  .strictObject({ name: displayName })
  .meta({ id: 'Ban', examples: [{ name: 'Ada' }] });

export const RESTRICTIONS = ['muted', 'banned'] as const;
export type Restriction = (typeof RESTRICTIONS)[number];

const EXAMPLE_RESTRICTED_VIEWER = {
  viewer: 'dGhpcyBpcyBhIHZpZXdlcg',
  name: 'Ada',
  kind: 'muted',
  until: 1_760_000_600_000,
  by: 'Grace',
  at: 1_760_000_000_000,
};

/** A muted or banned viewer. */
export const restrictedViewerSchema = z
  .object({
    viewer: z.string(),
    name: z.string().describe('The name given with the restriction; may be empty'),
    kind: z.enum(RESTRICTIONS),
    until: unixMs.nullable().describe('End of the restriction; null: the whole show'),
    by: z
      .string()
      .nullable()
      .describe('Name of the member who restricted the viewer; null: a service token'),
    at: unixMs.describe('When the viewer was restricted'),
  })
  .meta({ id: 'RestrictedViewer', examples: [EXAMPLE_RESTRICTED_VIEWER] });
export type RestrictedViewer = z.infer<typeof restrictedViewerSchema>;

export const QUESTION_STATES = ['open', 'answered', 'dismissed'] as const;
export type QuestionState = (typeof QUESTION_STATES)[number];

const questionState = z.enum(QUESTION_STATES);

export const questionPostSchema = z
  .strictObject({ state: questionState, line: messageInput })
  .meta({ id: 'QuestionPost' });

export const queuedQuestionSchema = z
  .object({
    state: questionState,
    line: chatMessageSchema,
    by: z
      .string()
      .nullable()
      .describe('Name of the member who set this state; null: a service token'),
    at: unixMs.describe('When this state was set'),
  })
  .meta({ id: 'QueuedQuestion' });
export type QueuedQuestion = z.infer<typeof queuedQuestionSchema>;

export const questionsQuerySchema = z.object({
  state: questionState.optional().describe('Return only questions in this state'),
});

import type { z } from 'zod';
import type { MemberRole } from './members.ts';

/** Parts of the service that `serve --roles` can run separately. */
export const ROLES = ['api', 'auth', 'view-counts', 'polls', 'events', 'studio', 'media'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The credential that an operation needs. `optional`: none, but one that is sent must be valid.
 * `configured`: none, and one that is sent is ignored; with `--token-auth=producer` a service token.
 * `studio`: a service token or the session of a member with one of the operation's `roles`.
 * `session`: the session of any member.
 */
export type Access =
  | 'public'
  | 'optional'
  | 'configured'
  | 'viewer'
  | 'service'
  | 'studio'
  | 'session';

export interface ResponseDescription {
  readonly description: string;
  /** Schema of the `application/json` body. Without `schema` and `otherTypes` there is no body. */
  readonly schema?: z.ZodType;
  /** Schemas of bodies in other media types, by media type. */
  readonly otherTypes?: Readonly<Record<string, z.ZodType>>;
  /** Headers besides the common ones. `Cache-Control` is `no-store` unless given here. */
  readonly headers?: Readonly<Record<string, z.ZodType>>;
}

/** One operation of the API: the source of its route, its validation and its OpenAPI text. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with `{name}` parameters. */
  readonly path: string;
  /** The part of the service that has the operation; `always`: every node has it. */
  readonly role: Role | 'always';
  readonly access: Access;
  /** With access `studio`: the member roles that may call the operation. */
  readonly roles?: readonly MemberRole[];
  /** Whether the operation also accepts the presenter key of the stream in the path. */
  readonly takesPresenterKey?: boolean;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  /** Request headers that the operation uses, besides `Accept` and the credential. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Whether the body may be omitted. */
  readonly bodyOptional?: boolean;
  /** Largest body in bytes. */
  readonly bodyBytes: number;
  readonly responses: Readonly<Record<number, ResponseDescription>>;
  /** Error statuses, besides those that every operation with this `access` can return. */
  readonly errors?: readonly number[];
}

import type { z } from 'zod';
import type { MemberRole } from './members.ts';

/** Parts of the service that `serve --roles` can run apart. */
export const ROLES = ['api', 'auth', 'view-counts', 'polls', 'events', 'studio', 'media'] as const;
export type Role = (typeof ROLES)[number];

/**
 * Who may call an operation. `optional`: nobody needs to, but what is sent must be valid. `studio`: a
 * service token, or a member of one of its roles who is signed in. `session`: any member who is.
 */
export type Access = 'public' | 'optional' | 'viewer' | 'service' | 'studio' | 'session';

/** What an operation answers with one status. */
export interface ResponseDescription {
  readonly description: string;
  /** The body as `application/json`. Without it and `otherTypes` there is no body. */
  readonly schema?: z.ZodType;
  /** Bodies in other media types, by their name. */
  readonly otherTypes?: Readonly<Record<string, z.ZodType>>;
  /** Headers besides those that every answer carries; `Cache-Control` is `no-store` unless here. */
  readonly headers?: Readonly<Record<string, z.ZodType>>;
}

/**
 * One operation of the API: what the router serves, what validates its input, and what the
 * OpenAPI document says about it, from one description.
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with `{name}` parameters, as it is written in the interface. */
  readonly path: string;
  readonly role: Role | 'always';
  readonly access: Access;
  /** Members who may, where `access` is `studio`. */
  readonly roles?: readonly MemberRole[];
  /** The presenter key of the stream in the path opens it, too. */
  readonly takesPresenterKey?: boolean;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  /** Request headers that mean something here, besides `Accept` and the credential. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The body may be left out. */
  readonly bodyOptional?: boolean;
  /** Largest body in bytes. */
  readonly bodyBytes: number;
  readonly responses: Readonly<Record<number, ResponseDescription>>;
  /** Statuses of errors besides those that every operation of its access can give. */
  readonly errors?: readonly number[];
}

import { createContext, use } from 'react';
import type { MemberRole, Session } from '../../protocol/members.ts';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import type { OperationName } from '../api/studio-client.ts';

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession needs a SessionContext provider');
  return session;
}

/** Whether a role may call an operation. The service enforces it. */
export function isAllowed(role: MemberRole, name: OperationName): boolean {
  const operation: Operation = studioApi[name];
  return operation.roles?.includes(role) ?? true;
}

/** Whether the signed-in member may call an operation. */
export function usePermission(name: OperationName): boolean {
  return isAllowed(useSession().member.role, name);
}

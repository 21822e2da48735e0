import { createContext, use } from 'react';
import type { MemberRole, Session } from '../../protocol/members.ts';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import type { OperationName } from '../api/studio-client.ts';

export const SessionContext = createContext<Session | null>(null);

/** Who is signed in. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('nobody is signed in around this');
  return session;
}

/** Whether somebody of this role may do it; the service has the last word. */
export function mayCall(role: MemberRole, name: OperationName): boolean {
  const operation: Operation = studioApi[name];
  return operation.roles?.includes(role) ?? true;
}

/** Whether who is signed in may do it. */
export function useMay(name: OperationName): boolean {
  return mayCall(useSession().member.role, name);
}

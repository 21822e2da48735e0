import type { MemberRole } from '../../protocol/members.ts';

/** The roles with their descriptions. */
export const ROLE_OPTIONS: readonly {
  readonly value: MemberRole;
  readonly text: string;
  readonly help: string;
}[] = [
  { value: 'owner', text: 'Owner', help: 'Full access, including team and API tokens' },
  { value: 'host', text: 'Host', help: 'Creates and runs shows' },
  { value: 'moderator', text: 'Moderator', help: 'Views shows and moderates the chat' },
];

export function roleLabel(role: MemberRole): string {
  return ROLE_OPTIONS.find(({ value }) => value === role)?.text ?? role;
}

import type { MemberRole } from '../../protocol/members.ts';

/** What the roles are for. */
export const ROLE_WORDS: readonly {
  readonly value: MemberRole;
  readonly text: string;
  readonly help: string;
}[] = [
  { value: 'owner', text: 'Owner', help: 'Everything, also the team and API tokens' },
  { value: 'host', text: 'Host', help: 'Makes and runs shows' },
  { value: 'moderator', text: 'Moderator', help: 'Sees shows and looks after the chat' },
];

export function roleText(role: MemberRole): string {
  return ROLE_WORDS.find(({ value }) => value === role)?.text ?? role;
}

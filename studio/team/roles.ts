import type { MemberRole } from '../../protocol/members.ts';
import { texts } from './texts.ts';

/** The roles with their descriptions. */
export const ROLE_OPTIONS: readonly {
  readonly value: MemberRole;
  readonly text: string;
  readonly help: string;
}[] = [
  { value: 'owner', text: texts.roles.owner.name, help: texts.roles.owner.help },
  { value: 'host', text: texts.roles.host.name, help: texts.roles.host.help },
  { value: 'moderator', text: texts.roles.moderator.name, help: texts.roles.moderator.help },
];

export function roleLabel(role: MemberRole): string {
  return texts.roles[role].name;
}

import { UserMinus } from 'lucide-react';
import { useState } from 'react';
import type { Member } from '../../protocol/members.ts';
import { useWrite } from '../api/use-write.ts';
import { useSession } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Select } from '../ui/select.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { ROLE_WORDS } from './roles.ts';

const STALE = ['listMembers'] as const;

/** The members, and what each may do. */
export function MemberList({ members }: { readonly members: readonly Member[] }) {
  const { member: self } = useSession();
  const [removed, setRemoved] = useState<Member | null>(null);
  const patch = useWrite('patchMember', { stale: STALE });
  const remove = useWrite('removeMember', {
    stale: STALE,
    onDone: () => {
      tellDone(`${removed?.name} is signed out, and has no way in any more.`);
      setRemoved(null);
    },
  });
  return (
    <>
      <ul className="grid divide-y divide-line rounded-2xl border border-line bg-card">
        {members.map((member) => (
          <li key={member.uuid} className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
            <div className="grid min-w-40 flex-1">
              <span className="font-semibold break-words">
                {member.name}
                {member.uuid === self.uuid && <span className="text-quiet"> (you)</span>}
              </span>
              <span className="text-sm break-all text-quiet">{member.email}</span>
            </div>
            <div className="w-40">
              <Select
                label={`Role of ${member.name}`}
                isLabelUnseen
                value={member.role}
                options={ROLE_WORDS}
                isDisabled={patch.isPending}
                onChange={(role) =>
                  patch.write({ params: { member_id: member.uuid }, body: { role } })
                }
              />
            </div>
            <Button
              look="quiet"
              aria-label={`Remove ${member.name}`}
              onPress={() => setRemoved(member)}
            >
              <UserMinus aria-hidden="true" />
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        title={`Remove ${removed?.name}?`}
        action="Remove"
        isOpen={removed !== null}
        onOpenChange={() => setRemoved(null)}
        isPending={remove.isPending}
        onConfirm={() => removed && remove.write({ params: { member_id: removed.uuid } })}
      >
        They are signed out everywhere, at once. What they made stays.
      </Confirm>
    </>
  );
}

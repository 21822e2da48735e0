import { UserMinus } from 'lucide-react';
import { useState } from 'react';
import type { Member } from '../../protocol/members.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useSession } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Select } from '../ui/select.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { ROLE_OPTIONS } from './roles.ts';
import { texts } from './texts.ts';

// An owner who is removed or demoted takes the open invitations along.
const INVALIDATED = ['listMembers', 'listInvitations'] as const;

export function MemberList({ members }: { readonly members: readonly Member[] }) {
  const { member: self } = useSession();
  const [toRemove, setToRemove] = useState<Member | null>(null);
  const patch = useApiMutation('patchMember', { invalidates: INVALIDATED });
  const remove = useApiMutation('removeMember', {
    invalidates: INVALIDATED,
    onSuccess: () => {
      showSuccess(texts.members.removed, toRemove?.name);
      setToRemove((current) => (current === toRemove ? null : current));
    },
  });
  return (
    <>
      <ul className="grid divide-y divide-line rounded-2xl border border-line bg-card">
        {members.map((member) => (
          <li key={member.uuid} className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
            <div className="grid min-w-40 flex-1">
              <span className="font-semibold wrap-anywhere">
                <bdi>{member.name}</bdi>
                {member.uuid === self.uuid && (
                  <span className="text-quiet"> {texts.members.you}</span>
                )}
              </span>
              <span className="text-sm break-all text-quiet">{member.email}</span>
            </div>
            <div className="w-40">
              <Select
                label={texts.members.roleOf(member.name)}
                isLabelHidden
                value={member.role}
                options={ROLE_OPTIONS}
                isDisabled={patch.isPending}
                onChange={(role) =>
                  patch.mutate({ params: { member_id: member.uuid }, body: { role } })
                }
              />
            </div>
            <Button
              variant="quiet"
              aria-label={texts.members.removeName(member.name)}
              onPress={() => setToRemove(member)}
              icon={<UserMinus />}
            >
              {texts.members.remove}
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        title={
          <TextTemplate text={texts.members.removeTitle}>
            <bdi>{toRemove?.name}</bdi>
          </TextTemplate>
        }
        action={texts.members.remove}
        isOpen={toRemove !== null}
        onOpenChange={() => setToRemove(null)}
        isPending={remove.isPending}
        onConfirm={() => toRemove && remove.mutate({ params: { member_id: toRemove.uuid } })}
      >
        {toRemove?.role === 'owner' ? texts.members.removeOwnerHelp : texts.members.removeHelp}
      </Confirm>
    </>
  );
}

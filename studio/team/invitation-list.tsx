import { X } from 'lucide-react';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { dateTimeOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { roleLabel } from './roles.ts';
import { texts } from './texts.ts';

/** Pending invitations; renders nothing without any. */
export function InvitationList() {
  const { data } = useApiQuery('listInvitations');
  const { mutate, isPending } = useApiMutation('withdrawInvitation', {
    invalidates: ['listInvitations'],
  });
  if (!data || data.results.length === 0) return null;
  return (
    <section aria-labelledby="invited" className="grid gap-3">
      <h2 id="invited" className="text-lg font-bold">
        {texts.invitations.title}
      </h2>
      <ul className="grid divide-y divide-line rounded-2xl border border-line bg-card">
        {data.results.map(({ id, email, role, expires }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
            <div className="grid min-w-40 flex-1">
              <span className="font-semibold break-all">{email}</span>
              <span className="text-sm text-quiet">
                {texts.invitations.expires(roleLabel(role), dateTimeOf(expires))}
              </span>
            </div>
            <Button
              variant="quiet"
              isDisabled={isPending}
              aria-label={texts.invitations.revokeEmail(email)}
              onPress={() => mutate({ params: { invitation_id: id } })}
              icon={<X />}
            >
              {texts.invitations.revoke}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

import { X } from 'lucide-react';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { dateOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { roleText } from './roles.ts';

/** Who is asked to come and has not come yet. Nothing is here when that is nobody. */
export function InvitationList() {
  const { data } = useRead('listInvitations');
  const { write, isPending } = useWrite('withdrawInvitation', { stale: ['listInvitations'] });
  if (!data || data.results.length === 0) return null;
  return (
    <section aria-labelledby="invited" className="grid gap-3">
      <h2 id="invited" className="text-lg font-bold">
        Invited
      </h2>
      <ul className="grid divide-y divide-line rounded-2xl border border-line bg-card">
        {data.results.map(({ id, email, role, expires }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
            <div className="grid min-w-40 flex-1">
              <span className="font-semibold break-all">{email}</span>
              <span className="text-sm text-quiet">
                {roleText(role)} · the link works until {dateOf(expires)}
              </span>
            </div>
            <Button
              look="quiet"
              isDisabled={isPending}
              aria-label={`Withdraw the invitation of ${email}`}
              onPress={() => write({ params: { invitation_id: id } })}
            >
              <X aria-hidden="true" />
              Withdraw
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

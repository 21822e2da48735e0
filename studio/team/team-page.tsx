import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../api/use-read.ts';
import { useMay } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { Button } from '../ui/button.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { InvitationList } from './invitation-list.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberList } from './member-list.tsx';

/** Who is in the account, and who is asked to come. */
export function TeamPage() {
  const members = useRead('listMembers');
  const [isInviting, setInviting] = useState(false);
  const mayInvite = useMay('invite');
  return (
    <Page
      title="Team"
      actions={
        mayInvite && (
          <Button look="primary" onPress={() => setInviting(true)}>
            <UserPlus aria-hidden="true" />
            Invite somebody
          </Button>
        )
      }
    >
      {members.isPending && <Loading what="Looking who is here" />}
      {members.isError && !members.data && (
        <Failure error={members.error} onAgain={() => members.refetch()} />
      )}
      {members.data && <MemberList members={members.data.results} />}
      <InvitationList />
      <InviteDialog isOpen={isInviting} onOpenChange={setInviting} />
    </Page>
  );
}

import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorMessage, Loading } from '../ui/states.tsx';
import { InvitationList } from './invitation-list.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberList } from './member-list.tsx';

/** The members and invitations of the account. */
export function TeamPage() {
  const members = useApiQuery('listMembers');
  const [isInviting, setInviting] = useState(false);
  const mayInvite = usePermission('invite');
  return (
    <Page
      title="Team"
      actions={
        mayInvite && (
          <Button variant="primary" onPress={() => setInviting(true)}>
            <UserPlus aria-hidden="true" />
            Invite member
          </Button>
        )
      }
    >
      {members.isPending && <Loading label="Loading members" />}
      {members.isError && !members.data && (
        <ErrorMessage error={members.error} onRetry={() => members.refetch()} />
      )}
      {members.data && <MemberList members={members.data.results} />}
      <InvitationList />
      <InviteDialog isOpen={isInviting} onOpenChange={setInviting} />
    </Page>
  );
}

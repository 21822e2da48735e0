import { UserPlus } from 'lucide-react';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { DialogButton } from '../ui/dialog.tsx';
import { Loaded } from '../ui/states.tsx';
import { InvitationList } from './invitation-list.tsx';
import { InviteForm } from './invite-form.tsx';
import { MemberList } from './member-list.tsx';
import { texts } from './texts.ts';

/** The members and invitations of the account. */
export function TeamPage() {
  const members = useApiQuery('listMembers');
  const mayInvite = usePermission('invite');
  return (
    <Page
      title={texts.title}
      actions={
        mayInvite && (
          <DialogButton
            variant="primary"
            icon={<UserPlus />}
            title={texts.invite.title}
            dialog={(close) => <InviteForm onClose={close} />}
          >
            {texts.invite.button}
          </DialogButton>
        )
      }
    >
      <Loaded query={members} label={texts.loading}>
        {({ results }) => <MemberList members={results} />}
      </Loaded>
      <InvitationList />
    </Page>
  );
}

import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ApiToken } from '../../protocol/accounts.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { ago } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, DialogButton } from '../ui/dialog.tsx';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { NewTokenForm } from './new-token-form.tsx';

export function TokensPage() {
  const tokens = useApiQuery('listApiTokens');
  const mayCreate = usePermission('createApiToken');
  return (
    <Page
      title="API tokens"
      actions={
        mayCreate && (
          <DialogButton
            variant="primary"
            title="New API token"
            dialog={(close) => <NewTokenForm onClose={close} />}
          >
            New token
          </DialogButton>
        )
      }
    >
      <p className="max-w-prose text-quiet">
        With a token, your programs can do what you can do here: create shows, send quizzes, read
        results. Keep tokens as safe as passwords.
      </p>
      <Loaded query={tokens} label="Loading tokens">
        {({ results }) => <TokenList tokens={results} />}
      </Loaded>
    </Page>
  );
}

function TokenList({ tokens }: { readonly tokens: readonly ApiToken[] }) {
  const [toRevoke, setToRevoke] = useState<ApiToken | null>(null);
  const { mutate, isPending } = useApiMutation('revokeApiToken', {
    invalidates: ['listApiTokens'],
    onSuccess: () => {
      showSuccess('was revoked.', toRevoke?.name);
      setToRevoke(null);
    },
  });
  if (tokens.length === 0) {
    return (
      <EmptyState icon={<KeyRound />} title="No tokens yet">
        Create a token when one of your programs needs to call the API.
      </EmptyState>
    );
  }
  return (
    <>
      <ul className="grid divide-y divide-line rounded-2xl border border-line bg-card">
        {tokens.map((token) => (
          <li key={token.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
            <div className="grid min-w-0 flex-1 gap-0.5">
              <span dir="auto" className="font-semibold wrap-anywhere">
                {token.name}
              </span>
              <span className="text-sm text-quiet">
                <code>{token.prefix}…</code> · created {ago(token.created, Date.now())} ·{' '}
                {token.lastUsed === null
                  ? 'never used'
                  : `last used ${ago(token.lastUsed, Date.now())}`}
              </span>
            </div>
            <Button
              variant="quiet"
              aria-label={`Revoke ${token.name}`}
              onPress={() => setToRevoke(token)}
              icon={<Trash2 />}
            >
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        title={
          <>
            Revoke <bdi>{toRevoke?.name}</bdi>?
          </>
        }
        action="Revoke"
        isOpen={toRevoke !== null}
        onOpenChange={() => setToRevoke(null)}
        isPending={isPending}
        onConfirm={() => toRevoke && mutate({ params: { token_id: toRevoke.id } })}
      >
        Programs that use it lose access at once. This cannot be undone.
      </Confirm>
    </>
  );
}

import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ApiToken } from '../../protocol/accounts.ts';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { useMay } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { ago } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';

/** The account's service tokens: made, seen, revoked. */
export function TokensPage() {
  const tokens = useRead('listApiTokens');
  const [isMaking, setMaking] = useState(false);
  const mayMake = useMay('createApiToken');
  return (
    <Page
      title="API tokens"
      actions={
        mayMake && (
          <Button look="primary" onPress={() => setMaking(true)}>
            New token
          </Button>
        )
      }
    >
      <p className="max-w-prose text-quiet">
        Your own programs use a token to do what you can do here: make streams, send quizzes, read
        results. Who has one is you, so keep it as you keep a password.
      </p>
      {tokens.isPending && <Loading what="Looking for your tokens" />}
      {tokens.isError && <Failure error={tokens.error} onAgain={() => tokens.refetch()} />}
      {tokens.data && <TokenList tokens={tokens.data.results} />}
      <NewTokenDialog isOpen={isMaking} onOpenChange={setMaking} />
    </Page>
  );
}

function TokenList({ tokens }: { readonly tokens: readonly ApiToken[] }) {
  const [revoked, setRevoked] = useState<ApiToken | null>(null);
  const { write, isPending } = useWrite('revokeApiToken', {
    stale: ['listApiTokens'],
    onDone: () => {
      tellDone(`${revoked?.name} opens nothing any more.`);
      setRevoked(null);
    },
  });
  if (tokens.length === 0) {
    return (
      <Empty icon={<KeyRound aria-hidden="true" />} title="No tokens yet">
        You need none for the studio. Make one when a program of yours is to call the service.
      </Empty>
    );
  }
  return (
    <>
      <ul className="grid divide-y divide-line rounded-2xl border border-line bg-card">
        {tokens.map((token) => (
          <li key={token.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
            <div className="grid min-w-0 flex-1 gap-0.5">
              <span className="font-semibold break-words">{token.name}</span>
              <span className="text-sm text-quiet">
                <code>{token.prefix}…</code> · made {ago(token.created, Date.now())} ·{' '}
                {token.lastUsed === null
                  ? 'never used'
                  : `last used ${ago(token.lastUsed, Date.now())}`}
              </span>
            </div>
            <Button
              look="quiet"
              aria-label={`Revoke ${token.name}`}
              onPress={() => setRevoked(token)}
            >
              <Trash2 aria-hidden="true" />
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        title={`Revoke ${revoked?.name}?`}
        action="Revoke"
        isOpen={revoked !== null}
        onOpenChange={() => setRevoked(null)}
        isPending={isPending}
        onConfirm={() => revoked && write({ params: { token_id: revoked.id } })}
      >
        Programs that use it are refused from now on. This cannot be taken back.
      </Confirm>
    </>
  );
}

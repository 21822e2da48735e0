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
import { TextTemplate } from '../ui/text-template.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { NewTokenForm } from './new-token-form.tsx';
import { texts } from './texts.ts';

export function TokensPage() {
  const tokens = useApiQuery('listApiTokens');
  const mayCreate = usePermission('createApiToken');
  return (
    <Page
      title={texts.title}
      actions={
        mayCreate && (
          <DialogButton
            variant="primary"
            title={texts.create.title}
            dialog={(close) => <NewTokenForm onClose={close} />}
          >
            {texts.create.button}
          </DialogButton>
        )
      }
    >
      <p className="max-w-prose text-quiet">{texts.explanation}</p>
      <Loaded query={tokens} label={texts.loading}>
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
      showSuccess(texts.revoke.done, toRevoke?.name);
      setToRevoke((current) => (current === toRevoke ? null : current));
    },
  });
  if (tokens.length === 0) {
    return (
      <EmptyState icon={<KeyRound />} title={texts.empty.title}>
        {texts.empty.help}
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
                <code>{token.prefix}…</code> · {texts.token.created(ago(token.created, Date.now()))}{' '}
                ·{' '}
                {token.lastUsed === null
                  ? texts.token.neverUsed
                  : texts.token.lastUsed(ago(token.lastUsed, Date.now()))}
              </span>
            </div>
            <Button
              variant="quiet"
              aria-label={texts.revoke.label(token.name)}
              onPress={() => setToRevoke(token)}
              icon={<Trash2 />}
            >
              {texts.revoke.action}
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        title={
          <TextTemplate text={texts.revoke.title}>
            <bdi>{toRevoke?.name}</bdi>
          </TextTemplate>
        }
        action={texts.revoke.action}
        isOpen={toRevoke !== null}
        onOpenChange={() => setToRevoke(null)}
        isPending={isPending}
        onConfirm={() => toRevoke && mutate({ params: { token_id: toRevoke.id } })}
      >
        {texts.revoke.help}
      </Confirm>
    </>
  );
}

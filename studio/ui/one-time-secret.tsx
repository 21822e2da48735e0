import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { usePersistentDialog } from './dialog.tsx';
import { texts } from './texts.ts';

interface OneTimeSecretProps {
  /** Label of the copy button: "Copy the token". */
  readonly copyLabel: string;
  readonly secret: string;
  /** What the secret is for, and that it is not shown again. */
  readonly children: ReactNode;
  readonly onClose: () => void;
}

/** Dialog content for a new secret, which the service does not return again. */
export function OneTimeSecret({ copyLabel, secret, children, onClose }: OneTimeSecretProps) {
  usePersistentDialog();
  return (
    <>
      <p>{children}</p>
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-lg bg-raised p-3 break-all">{secret}</code>
        <CopyButton label={copyLabel} text={secret} />
      </div>
      <Button variant="primary" onPress={onClose}>
        {texts.done}
      </Button>
    </>
  );
}

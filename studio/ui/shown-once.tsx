import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { useKeptDialog } from './dialog.tsx';

interface ShownOnceProps {
  /** What it is, in words: "token". */
  readonly what: string;
  readonly secret: string;
  /** What it is for, and that it is not shown again. */
  readonly children: ReactNode;
  readonly onEnd: () => void;
}

/** A secret that the service has told and will not tell again: what a dialog shows once it is made. */
export function ShownOnce({ what, secret, children, onEnd }: ShownOnceProps) {
  useKeptDialog();
  return (
    <>
      <p>{children}</p>
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-lg bg-raised p-3 break-all">{secret}</code>
        <CopyButton what={what} text={secret} />
      </div>
      <Button look="primary" onPress={onEnd}>
        Done
      </Button>
    </>
  );
}

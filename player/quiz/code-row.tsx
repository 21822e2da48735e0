import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';

interface CodeRowProps {
  readonly code: string;
  onClose(): void;
}

/** The code of a winner, to be shown to the host. */
export function CodeRow({ code, onClose }: CodeRowProps) {
  return (
    <aside className="row" aria-label={texts.winners.codeLabel}>
      <Icon name="winner" />
      <p className="row-text row-title code-row">
        {texts.winners.code} <b>{code}</b>
      </p>
      <button
        type="button"
        className="row-close"
        aria-label={texts.winners.hideCode}
        onClick={onClose}
      >
        <Icon name="wrong" />
      </button>
    </aside>
  );
}

import type { ChatKind } from '../../sdk/types.ts';
import { Icon } from '../icon.tsx';

const OPTIONS: readonly { readonly kind: ChatKind; readonly label: string }[] = [
  { kind: 'message', label: 'Message' },
  { kind: 'question', label: 'Question' },
  { kind: 'greeting', label: 'Greeting' },
  { kind: 'cheer', label: 'Cheer' },
];

/** Radio buttons for the kind of message. */
export function KindPicker({ kind, onPick }: { kind: ChatKind; onPick(kind: ChatKind): void }) {
  return (
    <fieldset className="kinds">
      <legend className="unseen">Type of message</legend>
      {OPTIONS.map((option) => (
        <label key={option.kind} className="kind">
          <input
            type="radio"
            name="kind"
            className="kind-radio"
            checked={option.kind === kind}
            onChange={() => onPick(option.kind)}
          />
          <Icon name={option.kind} />
          <span className="kind-label">{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

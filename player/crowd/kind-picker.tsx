import type { ChatKind } from '../../sdk/types.ts';
import { Icon } from '../icon.tsx';

const KINDS: readonly { readonly kind: ChatKind; readonly label: string }[] = [
  { kind: 'message', label: 'Message' },
  { kind: 'question', label: 'Question' },
  { kind: 'greeting', label: 'Greeting' },
  { kind: 'cheer', label: 'Cheer' },
];

interface KindPickerProps {
  readonly kind: ChatKind;
  onPick(kind: ChatKind): void;
}

/** What is to be written. */
export function KindPicker({ kind, onPick }: KindPickerProps) {
  return (
    <fieldset className="kinds">
      <legend className="unseen">What you write</legend>
      {KINDS.map((one) => (
        <label key={one.kind} className="kind">
          <input
            type="radio"
            name="kind"
            className="kind-radio"
            checked={one.kind === kind}
            onChange={() => onPick(one.kind)}
          />
          <Icon name={one.kind} />
          <span className="kind-label">{one.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

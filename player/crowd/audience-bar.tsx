import type { Snapshot } from '../../sdk/viewer.ts';
import { compact } from '../compact-number.ts';
import { Icon } from '../icon.tsx';

/** How many are there, and how many hearts they sent. */
export function AudienceBar({ snapshot: { count, hearts } }: { readonly snapshot: Snapshot }) {
  return (
    <header className="audience">
      <h2 className="audience-title">Chat</h2>
      {hearts > 0 && (
        <p className="audience-hearts">
          <Icon name="heart" />
          <ShortNumber value={hearts} short={compact(hearts)} />{' '}
          <span className="unseen">hearts</span>
        </p>
      )}
      {count && (
        <p className="audience-count">
          <ShortNumber value={count.value} short={count.formatted} /> watching
        </p>
      )}
    </header>
  );
}

/** Short to the eye, whole to the ear and to who points at it. */
function ShortNumber({ value, short }: { readonly value: number; readonly short: string }) {
  const whole = value.toLocaleString('en');
  return (
    <>
      <b aria-hidden="true" title={whole}>
        {short}
      </b>
      <span className="unseen">{whole}</span>
    </>
  );
}

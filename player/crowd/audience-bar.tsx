import type { Snapshot } from '../../sdk/viewer.ts';
import { compact } from '../compact-number.ts';
import { Icon } from '../icon.tsx';
import { usePeak } from './use-peak.ts';

/** How many are there, and how many hearts they sent. */
export function AudienceBar({
  snapshot,
  hearts,
}: {
  readonly snapshot: Snapshot;
  readonly hearts: number;
}) {
  const peak = usePeak(snapshot);
  const count = snapshot.state === 'ended' ? peak : snapshot.count;
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
          <ShortNumber value={count.value} short={count.formatted} /> {presenceOf(snapshot)}
        </p>
      )}
    </header>
  );
}

/** What those do who are counted, or did where the show is over. */
function presenceOf({ state, stream }: Snapshot): string {
  if (state === 'ended') return 'watched at once';
  return stream?.status === 'CREATED' ? 'waiting' : 'watching';
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

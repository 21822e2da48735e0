import { useRef } from 'react';
import type { Snapshot } from '../../sdk/viewer.ts';
import { compact } from '../compact-number.ts';
import { Icon } from '../icon.tsx';
import { SoundSwitch } from '../sound/sound-switch.tsx';
import { texts } from '../texts.ts';

/** The viewer count, or after the show its peak, and the number of hearts. */
export function AudienceBar({ snapshot, hearts }: { snapshot: Snapshot; hearts: number }) {
  const peak = usePeak(snapshot);
  const count = snapshot.state === 'ended' ? peak : snapshot.count;
  return (
    <header className="audience-bar">
      <h2 className="audience-title">{texts.chat.label}</h2>
      {hearts > 0 && (
        <p className="audience-hearts">
          <Icon name="heart" />
          <ShortNumber value={hearts} short={compact(hearts)} />{' '}
          <span className="unseen">{texts.audience.hearts}</span>
        </p>
      )}
      {count && (
        <p className="audience-count">
          <ShortNumber value={count.value} short={count.formatted} /> {countLabel(snapshot)}
        </p>
      )}
      {snapshot.state !== 'ended' && <SoundSwitch />}
    </header>
  );
}

/** The largest count so far: at the end pages stop counting, so that the last counts are low. */
function usePeak({ count }: Snapshot): Snapshot['count'] {
  const peak = useRef(count);
  if (count && count.value > (peak.current?.value ?? -1)) peak.current = count;
  return peak.current;
}

function countLabel({ state, stream }: Snapshot): string {
  if (state === 'ended') return texts.audience.peak;
  return stream?.status === 'CREATED' ? texts.audience.waiting : texts.audience.watching;
}

/** Shows the short form; screen readers and the tooltip have the full number. */
function ShortNumber({ value, short }: { readonly value: number; readonly short: string }) {
  const full = value.toLocaleString('en');
  return (
    <>
      <b aria-hidden="true" title={full}>
        {short}
      </b>
      <span className="unseen">{full}</span>
    </>
  );
}

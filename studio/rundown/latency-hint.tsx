import { useState } from 'react';
import { LATENCY_ALLOWANCE_MAX_MS } from '../../protocol/limits.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { usePicture } from '../on-air/use-picture.ts';
import { Button } from '../ui/button.tsx';
import { Panel } from '../ui/panel.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { type LatencyAdvice, latencyAdvice, withLook } from './latency-advice.ts';

const AGAIN_MS = 5_000;

interface LatencyHintProps {
  readonly stream: StudioStream;
}

/** What the picture takes, and what that means for quizzes: while there is a picture. */
export function LatencyHint({ stream }: LatencyHintProps) {
  if (stream.status !== 'STREAMING') return null;
  const isFromHere = stream.hls_url.includes(`/media/${stream.id}/`);
  return isFromHere ? <OfSource stream={stream} /> : <Measured stream={stream} />;
}

function OfSource({ stream }: LatencyHintProps) {
  const params = { stream_id: stream.id };
  const { data } = useRead('readIngest', { params }, { againMs: AGAIN_MS });
  return data?.source ? <Measured stream={stream} /> : null;
}

function Measured({ stream }: LatencyHintProps) {
  const [looks, setLooks] = useState<readonly number[]>([]);
  const { video } = usePicture(stream.hls_url, (behindMs) =>
    setLooks((before) => withLook(before, behindMs)),
  );
  const { latencyAllowance } = stream;
  const advice = latencyAdvice(looks, latencyAllowance, LATENCY_ALLOWANCE_MAX_MS);
  return (
    <Panel title="Time for the picture">
      <div className="flex flex-wrap items-start gap-4">
        <video
          ref={video}
          muted
          autoPlay
          playsInline
          aria-label="The picture as viewers get it"
          className="aspect-video w-full rounded-lg bg-black object-contain sm:w-56"
        />
        <div className="grid min-w-60 flex-1 gap-3">
          {advice ? (
            <Advice stream={stream} advice={advice} />
          ) : (
            <p className="text-quiet">Measuring how late the picture is …</p>
          )}
        </div>
      </div>
    </Panel>
  );
}

interface AdviceProps extends LatencyHintProps {
  readonly advice: LatencyAdvice;
}

function Advice({ stream, advice }: AdviceProps) {
  const { id, latencyAllowance } = stream;
  const { write, isPending } = useWrite('patchStream', {
    stale: ['readOwnStream', 'listOwnStreams'],
    onDone: () => tellDone('It holds for the quizzes that are sent from now on.'),
  });
  return (
    <>
      <p>
        The picture comes here <strong>{seconds(advice.behindMs)}</strong> after the camera, and
        viewers see a question when the picture is there in which it is asked.{' '}
        {consequenceOf(advice, latencyAllowance)}
      </p>
      {advice.kind !== 'fits' && (
        <div>
          <Button
            isPending={isPending}
            onPress={() =>
              write({
                params: { stream_id: id },
                body: { latencyAllowance: advice.betterMs },
              })
            }
          >
            Allow {seconds(advice.betterMs)}
          </Button>
        </div>
      )}
    </>
  );
}

function consequenceOf({ kind, behindMs }: LatencyAdvice, allowanceMs: number): string {
  switch (kind) {
    case 'short':
      return `The latency allowance is ${seconds(allowanceMs)}, so of their time to answer they lose ${seconds(behindMs - allowanceMs)}.`;
    case 'long':
      return `The latency allowance is ${seconds(allowanceMs)}: results wait ${seconds(allowanceMs - behindMs)} longer than they have to.`;
    case 'fits':
      return `The latency allowance of ${seconds(allowanceMs)} gives them all of their time to answer.`;
  }
}

const seconds = (ms: number) =>
  `${(ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })}\u00a0s`;

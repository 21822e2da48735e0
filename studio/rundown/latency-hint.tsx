import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { externalVideoOf } from '../streams/external-video.ts';
import { Button } from '../ui/button.tsx';
import { Panel } from '../ui/panel.tsx';
import { PlayerNotLoaded } from '../ui/player-not-loaded.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import type { LatencyAdvice } from './latency-advice.ts';
import { texts } from './texts.ts';
import { useLatencyAdvice } from './use-latency-advice.ts';

const POLL_MS = 5_000;

interface LatencyHintProps {
  readonly stream: StudioStream;
}

/** Measures the delay of a live video and advises on the latency allowance. */
export function LatencyHint({ stream }: LatencyHintProps) {
  if (stream.status !== 'STREAMING') return null;
  const isUploaded = externalVideoOf(stream).hls_url === null;
  return isUploaded ? <UploadedVideoHint stream={stream} /> : <MeasuredHint stream={stream} />;
}

function UploadedVideoHint({ stream }: LatencyHintProps) {
  const params = { stream_id: stream.id };
  const { data } = useApiQuery('readIngest', { params }, { refetchIntervalMs: POLL_MS });
  return data?.source ? <MeasuredHint stream={stream} /> : null;
}

function MeasuredHint({ stream }: LatencyHintProps) {
  const { video, isNotLoaded, advice } = useLatencyAdvice(stream, stream.hls_url);
  if (isNotLoaded) {
    return (
      <Panel title={texts.latency.title}>
        <PlayerNotLoaded />
      </Panel>
    );
  }
  return (
    <Panel title={texts.latency.title}>
      <div className="flex flex-wrap items-start gap-4">
        <video
          ref={video}
          muted
          autoPlay
          playsInline
          aria-label={texts.latency.video}
          className="aspect-video w-full rounded-lg bg-black object-contain sm:w-56"
        />
        <div className="grid min-w-60 flex-1 gap-3">
          {advice ? (
            <AdviceOnLatency stream={stream} advice={advice} />
          ) : (
            <p className="text-quiet">{texts.latency.measuring}</p>
          )}
        </div>
      </div>
    </Panel>
  );
}

interface AdviceOnLatencyProps extends LatencyHintProps {
  readonly advice: LatencyAdvice;
}

/** Says whether the allowance fits the delay, and sets the suggested one. */
export function AdviceOnLatency({ stream, advice }: AdviceOnLatencyProps) {
  const params = { stream_id: stream.id };
  const { mutate, isPending } = useApiMutation('patchStream', {
    invalidates: ['readOwnStream', 'listOwnStreams'],
    onSuccess: () => showSuccess(texts.latency.done),
  });
  return (
    <>
      <p>
        <TextTemplate text={texts.latency.delay}>
          <strong>{seconds(advice.delayMs)}</strong>
        </TextTemplate>{' '}
        {adviceSentence(advice, stream.latencyAllowance)}
      </p>
      {advice.kind !== 'fits' && (
        <div>
          <Button
            isPending={isPending}
            onPress={() => mutate({ params, body: { latencyAllowance: advice.suggestedMs } })}
          >
            {texts.latency.set(seconds(advice.suggestedMs))}
          </Button>
        </div>
      )}
    </>
  );
}

function adviceSentence({ kind, delayMs }: LatencyAdvice, allowanceMs: number): string {
  switch (kind) {
    case 'short':
      return texts.latency.tooShort(seconds(allowanceMs), seconds(delayMs - allowanceMs));
    case 'long':
      return texts.latency.tooLong(seconds(allowanceMs), seconds(allowanceMs - delayMs));
    case 'fits':
      return texts.latency.fits(seconds(allowanceMs));
  }
}

const seconds = (ms: number) =>
  texts.latency.seconds((ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 }));

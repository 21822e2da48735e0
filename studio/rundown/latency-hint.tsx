import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { externalVideoOf } from '../streams/external-video.ts';
import { Button } from '../ui/button.tsx';
import { Panel } from '../ui/panel.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import type { LatencyAdvice } from './latency-advice.ts';
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
  const { video, advice } = useLatencyAdvice(stream, stream.hls_url);
  return (
    <Panel title="Video delay">
      <div className="flex flex-wrap items-start gap-4">
        <video
          ref={video}
          muted
          autoPlay
          playsInline
          aria-label="The video as viewers see it"
          className="aspect-video w-full rounded-lg bg-black object-contain sm:w-56"
        />
        <div className="grid min-w-60 flex-1 gap-3">
          {advice ? (
            <AdviceOnLatency stream={stream} advice={advice} />
          ) : (
            <p className="text-quiet">Measuring the video delay…</p>
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
    onSuccess: () => showSuccess('Saved. It applies to quizzes sent from now on.'),
  });
  return (
    <>
      <p>
        The video arrives <strong>{seconds(advice.delayMs)}</strong> after the camera, and viewers
        see a question together with the video. {adviceSentence(advice, stream.latencyAllowance)}
      </p>
      {advice.kind !== 'fits' && (
        <div>
          <Button
            isPending={isPending}
            onPress={() => mutate({ params, body: { latencyAllowance: advice.suggestedMs } })}
          >
            Set to {seconds(advice.suggestedMs)}
          </Button>
        </div>
      )}
    </>
  );
}

function adviceSentence({ kind, delayMs }: LatencyAdvice, allowanceMs: number): string {
  switch (kind) {
    case 'short':
      return `The latency allowance is ${seconds(allowanceMs)}, so viewers lose ${seconds(delayMs - allowanceMs)} of their time to answer.`;
    case 'long':
      return `The latency allowance is ${seconds(allowanceMs)}: results appear ${seconds(allowanceMs - delayMs)} later than necessary.`;
    case 'fits':
      return `The latency allowance of ${seconds(allowanceMs)} gives viewers their full time to answer.`;
  }
}

const seconds = (ms: number) =>
  `${(ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })}\u00a0s`;

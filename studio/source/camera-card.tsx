import { Video, VideoOff } from 'lucide-react';
import { useState } from 'react';
import type { Ingest } from '../../protocol/ingest.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { showError } from '../ui/toasts.tsx';
import type { BrowserSourceState } from './browser-source.ts';
import { type CameraDevices, hasStopped } from './camera.ts';
import { useCamera } from './camera-context.ts';
import { DeviceChoice } from './device-choice.tsx';
import { texts } from './texts.ts';

/** Starts and stops the camera of this browser as the source. */
export function CameraCard({ stream, ingest }: { stream: StudioStream; ingest: Ingest }) {
  const { camera, cameraStore } = useCamera();
  const [isStarting, setStarting] = useState(false);
  const [devices, setDevices] = useState<CameraDevices>({ cameraId: '', microphoneId: '' });
  const running = camera && !hasStopped(camera.source) ? camera : null;
  const isThisShow = running?.streamId === stream.id;
  const start = () => {
    setStarting(true);
    cameraStore
      .start(stream.id, ingest.websocket.url, ingest.key, devices)
      .catch(showError)
      .finally(() => setStarting(false));
  };
  return (
    <div className="grid gap-4">
      <h3 className="font-bold">{texts.camera.title}</h3>
      {running && isThisShow && <Preview media={running.media} />}
      {camera?.streamId === stream.id && (
        <div>
          <CameraState source={camera.source} isPreview={stream.status === 'CREATED'} />
        </div>
      )}
      {!running && <DeviceChoice devices={devices} onChange={setDevices} />}
      {running && !isThisShow && <p className="text-quiet">{texts.camera.liveElsewhere}</p>}
      <div>
        {isThisShow ? (
          <Button variant="danger" onPress={() => cameraStore.stop()} icon={<VideoOff />}>
            {texts.camera.stop}
          </Button>
        ) : (
          <Button
            onPress={start}
            isPending={isStarting}
            isDisabled={running !== null}
            icon={<Video />}
          >
            {texts.camera.start}
          </Button>
        )}
      </div>
    </div>
  );
}

/** The local camera image, without the delay of viewers. */
function Preview({ media }: { readonly media: MediaStream }) {
  const attach = (video: HTMLVideoElement | null) => {
    if (video && video.srcObject !== media) video.srcObject = media;
  };
  return (
    <video
      ref={attach}
      autoPlay
      muted
      playsInline
      aria-label={texts.camera.preview}
      className="aspect-video w-full max-w-md rounded-lg bg-black object-contain"
    />
  );
}

/** @param props.isPreview whether viewers do not see the camera yet */
function CameraState(props: { readonly source: BrowserSourceState; readonly isPreview: boolean }) {
  const { source, isPreview } = props;
  const { states } = texts.camera;
  switch (source.state) {
    case 'connecting':
      return <Badge>{states.connecting}</Badge>;
    case 'live':
      return source.isSlow ? (
        <Badge variant="bad">{states.slow}</Badge>
      ) : (
        <Badge variant={isPreview ? 'good' : 'live'}>
          {isPreview ? states.preview : states.live}
        </Badge>
      );
    case 'reconnecting':
      return <Badge variant="bad">{states.reconnecting}</Badge>;
    default:
      return (
        <p role="alert" className="text-bad">
          {source.reason}
        </p>
      );
  }
}

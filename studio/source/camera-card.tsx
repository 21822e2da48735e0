import { Video, VideoOff } from 'lucide-react';
import { useState } from 'react';
import type { Ingest } from '../../protocol/ingest.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { tellFailure } from '../ui/toasts.tsx';
import type { BrowserSourceState } from './browser-source.ts';
import { useCamera } from './camera-context.ts';

interface CameraCardProps {
  readonly stream: StudioStream;
  readonly ingest: Ingest;
}

/** Goes on air with the camera of this browser. */
export function CameraCard({ stream, ingest }: CameraCardProps) {
  const { camera, onAir } = useCamera();
  const [isAsking, setAsking] = useState(false);
  const isHere = camera?.streamId === stream.id;
  const start = () => {
    setAsking(true);
    onAir
      .start(stream.id, ingest.websocket.url, ingest.key)
      .catch(tellFailure)
      .finally(() => setAsking(false));
  };
  return (
    <div className="grid gap-4">
      <h3 className="font-bold">From this browser’s camera</h3>
      {camera && isHere && <Preview picture={camera.picture} />}
      {camera && isHere && (
        <div>
          <CameraState source={camera.source} />
        </div>
      )}
      {camera && !isHere && (
        <p className="text-quiet">This browser’s camera is on air in another show.</p>
      )}
      <div>
        {isHere ? (
          <Button look="danger" onPress={() => onAir.stop()}>
            <VideoOff aria-hidden="true" />
            Stop the camera
          </Button>
        ) : (
          <Button onPress={start} isPending={isAsking} isDisabled={camera !== null}>
            <Video aria-hidden="true" />
            Go on air with the camera
          </Button>
        )}
      </div>
    </div>
  );
}

/** What the camera sees, at once; viewers see it seconds later. */
function Preview({ picture }: { readonly picture: MediaStream }) {
  const show = (video: HTMLVideoElement | null) => {
    if (video && video.srcObject !== picture) video.srcObject = picture;
  };
  return (
    <video
      ref={show}
      autoPlay
      muted
      playsInline
      aria-label="What the camera sees"
      className="aspect-video w-full max-w-md rounded-lg bg-black object-contain"
    />
  );
}

function CameraState({ source }: { readonly source: BrowserSourceState }) {
  switch (source.state) {
    case 'connecting':
      return <Badge>Going on air …</Badge>;
    case 'live':
      return source.isSlow ? (
        <Badge look="bad">On air, but the service cannot keep up</Badge>
      ) : (
        <Badge look="live">On air</Badge>
      );
    case 'reconnecting':
      return <Badge look="bad">The line dropped; trying again …</Badge>;
    default:
      return (
        <p role="alert" className="text-bad">
          {source.reason}
        </p>
      );
  }
}

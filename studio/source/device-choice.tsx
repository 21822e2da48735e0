import { useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/select.tsx';
import { showError } from '../ui/toasts.tsx';
import { type CameraDevices, listDevices, listNamedDevices } from './camera.ts';
import { texts } from './texts.ts';

interface DeviceChoiceProps {
  readonly devices: CameraDevices;
  readonly onChange: (devices: CameraDevices) => void;
}

/** The choice of camera and microphone. */
export function DeviceChoice({ devices, onChange }: DeviceChoiceProps) {
  const { found, askForNames } = useDevices();
  const optionsOf = (kind: MediaDeviceKind) => [
    { value: '', text: texts.camera.defaultDevice },
    ...found
      .filter((device) => device.kind === kind && device.label !== '')
      .map(({ deviceId, label }) => ({ value: deviceId, text: label })),
  ];
  const areNamed = found.some(({ label }) => label !== '');
  if (!areNamed) {
    return (
      <div>
        <Button onPress={() => askForNames().catch(showError)}>{texts.camera.chooseDevices}</Button>
      </div>
    );
  }
  return (
    <div className="grid gap-4 *:min-w-0 sm:grid-cols-2">
      <Select
        label={texts.camera.camera}
        value={devices.cameraId}
        options={optionsOf('videoinput')}
        onChange={(cameraId) => onChange({ ...devices, cameraId })}
      />
      <Select
        label={texts.camera.microphone}
        value={devices.microphoneId}
        options={optionsOf('audioinput')}
        onChange={(microphoneId) => onChange({ ...devices, microphoneId })}
      />
    </div>
  );
}

function useDevices() {
  const [found, setFound] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    const update = () => void listDevices().then(setFound);
    update();
    navigator.mediaDevices?.addEventListener('devicechange', update);
    return () => navigator.mediaDevices?.removeEventListener('devicechange', update);
  }, []);
  return {
    found,
    askForNames: async () => setFound(await listNamedDevices()),
  };
}

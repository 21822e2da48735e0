import { createContext, use } from 'react';
import { useExternalStore } from '../ui/external-store.ts';
import { type Camera, CameraStore } from './camera.ts';

export const CameraContext = createContext<CameraStore>(new CameraStore());

/** The camera that this tab sends, with its controls. */
export function useCamera(): { readonly camera: Camera | null; readonly cameraStore: CameraStore } {
  const cameraStore = use(CameraContext);
  return { camera: useExternalStore(cameraStore), cameraStore };
}

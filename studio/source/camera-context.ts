import { createContext, use } from 'react';
import { useExternalStore } from '../ui/external-store.ts';
import { type Camera, CameraOnAir } from './camera.ts';

export const CameraContext = createContext<CameraOnAir>(new CameraOnAir());

/** The camera that this tab sends, with its controls. */
export function useCamera(): { readonly camera: Camera | null; readonly onAir: CameraOnAir } {
  const onAir = use(CameraContext);
  return { camera: useExternalStore(onAir), onAir };
}

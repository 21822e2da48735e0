import { useState } from 'react';
import { EMPTY_AIR, landed, launched } from './heart-flights.ts';

/** Hearts in the air. */
export function useFlights() {
  const [air, setAir] = useState(EMPTY_AIR);
  return {
    flights: air.flights,
    launch: (added: number) => setAir((before) => launched(before, added, Math.random)),
    land: (id: number) => setAir((before) => landed(before, id)),
  };
}

import { useState } from 'react';
import { type Flight, launched } from './heart-flights.ts';

/** Hearts in the air. */
export function useFlights() {
  const [flights, setFlights] = useState<readonly Flight[]>([]);
  return {
    flights,
    launch: (added: number) => setFlights((flying) => launched(flying, added, Math.random)),
    land: (id: number) => setFlights((flying) => flying.filter((flight) => flight.id !== id)),
  };
}

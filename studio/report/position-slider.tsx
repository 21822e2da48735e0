import { Slider, SliderThumb, SliderTrack } from 'react-aria-components';
import { texts } from './texts.ts';

const SECONDS = { style: 'unit', unit: 'second', unitDisplay: 'long' } as const;

interface PositionSliderProps {
  /** Position of the recording, s since the start of the show. */
  readonly positionS: number;
  readonly durationS: number;
  readonly onMove: (positionS: number) => void;
}

/** Lies over a chart of the show: shows the position of the recording; a press or arrow keys seek. */
export function PositionSlider({ positionS, durationS, onMove }: PositionSliderProps) {
  return (
    <Slider
      aria-label={texts.timeline.position}
      minValue={0}
      maxValue={durationS}
      step={1}
      value={positionS}
      onChange={onMove}
      formatOptions={SECONDS}
      className="absolute inset-0 print:hidden"
    >
      {/* Vertical touch gestures scroll the page. */}
      <SliderTrack className="absolute! inset-0 cursor-pointer touch-pan-y!">
        <SliderThumb className="group top-1/2 h-full w-6 cursor-ew-resize touch-pan-y! outline-none">
          <span className="absolute inset-y-0 left-1/2 w-0.5 -translate-x-1/2 bg-live group-focus-visible:outline-3 group-focus-visible:outline-offset-2 group-focus-visible:outline-focus" />
          <span className="absolute bottom-0 left-1/2 size-3.5 -translate-x-1/2 rounded-full bg-live" />
        </SliderThumb>
      </SliderTrack>
    </Slider>
  );
}

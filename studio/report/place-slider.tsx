import { Slider, SliderThumb, SliderTrack } from 'react-aria-components';

const SECONDS = { style: 'unit', unit: 'second', unitDisplay: 'long' } as const;

interface PlaceSliderProps {
  /** Where the recording is, s since the begin of the show. */
  readonly placeS: number;
  readonly lengthS: number;
  readonly onMove: (placeS: number) => void;
}

/**
 * Lies over a chart of the show: its thumb is the mark of where the recording is, and pressing the
 * chart, or arrow keys, take the recording there.
 */
export function PlaceSlider({ placeS, lengthS, onMove }: PlaceSliderProps) {
  return (
    <Slider
      aria-label="Place in the recording"
      minValue={0}
      maxValue={lengthS}
      step={1}
      value={placeS}
      onChange={onMove}
      formatOptions={SECONDS}
      className="absolute inset-0 print:hidden"
    >
      {/* A finger that goes up or down moves the page. */}
      <SliderTrack className="absolute! inset-0 cursor-pointer touch-pan-y!">
        <SliderThumb className="group top-1/2 h-full w-6 cursor-ew-resize touch-pan-y! outline-none">
          <span className="absolute inset-y-0 left-1/2 w-0.5 -translate-x-1/2 bg-live group-focus-visible:outline-3 group-focus-visible:outline-offset-2 group-focus-visible:outline-focus" />
          <span className="absolute bottom-0 left-1/2 size-3.5 -translate-x-1/2 rounded-full bg-live" />
        </SliderThumb>
      </SliderTrack>
    </Slider>
  );
}

/** SVG paths in a 24 × 24 view box. */
const PATHS = {
  heart:
    'M12 20.6 10.7 19.4C6 15.2 3 12.4 3 8.9 3 6.1 5.2 4 7.9 4c1.6 0 3.1.8 4.1 2 1-1.2 2.5-2 4.1-2C18.8 4 21 6.1 21 8.9c0 3.5-3 6.3-7.7 10.5z',
  message: 'M4 4h16a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H9l-5 4v-4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z',
  question:
    'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1.2 15.6h-2.4v-2.3h2.4zm2.1-7.1-1 1c-.8.8-1.1 1.4-1.1 2.6h-2.4v-.5c0-1.2.4-2.1 1.2-2.9l1.3-1.3c.3-.3.5-.7.5-1.2a1.8 1.8 0 0 0-3.6 0H7.8a4.2 4.2 0 0 1 8.4 0c0 .9-.4 1.7-.9 2.3z',
  greeting:
    'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zM8.5 8a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zm7 0a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zM12 18a5.5 5.5 0 0 1-5-3.5h10A5.5 5.5 0 0 1 12 18z',
  cheer: 'm12 2 2.9 6.3 6.9.8-5.1 4.7 1.4 6.8L12 17.2l-6.1 3.4 1.4-6.8L2.2 9.1l6.9-.8z',
  purchase: 'M7 8V7a5 5 0 0 1 10 0v1h3l1 13H3L4 8zm2 0h6V7a3 3 0 0 0-6 0z',
  discount: 'M3 3h9l9 9-9 9-9-9zm4.5 3A1.5 1.5 0 1 0 7.5 9a1.5 1.5 0 0 0 0-3z',
  send: 'M3 20.500v-7l9-1.5-9-1.500v-7L22 12z',
  lock: 'M7 10V7a5 5 0 0 1 10 0v3h1a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2zm2.5 0h5V7a2.5 2.5 0 0 0-5 0z',
  right: 'm9.5 18.5-6-6 2.1-2.1 3.9 3.9 9-9 2.1 2.100z',
  wrong: 'm12 9.9 5-5 2.1 2.1-5 5 5 5-2.1 2.1-5-5-5 5L4.9 17l5-5-5-5L7 4.900z',
  winner:
    'M6 3h12v2h4v3a5 5 0 0 1-4.7 5A6 6 0 0 1 13.5 16.800V19H17v2H7v-2h3.500v-2.200A6 6 0 0 1 6.7 13 5 5 0 0 1 2 8V5h4zm0 4H4v1a3 3 0 0 0 2 2.800zm12 3.800A3 3 0 0 0 20 8V7h-2z',
  fill: 'M4 4h6v2H6v4H4zm10 0h6v6h-2V6h-4zM4 14h2v4h4v2H4zm14 0h2v6h-6v-2h4z',
  unfill: 'M8 4h2v6H4V8h4zm6 0h2v4h4v2h-6zM4 14h6v6H8v-4H4zm10 0h6v2h-4v4h-2z',
  sound:
    'M3 9.500v5h4l5 4.500v-14l-5 4.500zm11-.9v6.800a3.800 3.800 0 0 0 0-6.800zm0-4.600v2.100a6.200 6.200 0 0 1 0 11.800V20a8.200 8.200 0 0 0 0-16z',
  silence:
    'M3 9.500v5h4l5 4.500v-14l-5 4.500zm18.500-.1-1.400-1.400L17.500 10.600 14.900 8l-1.400 1.400 2.600 2.600-2.600 2.600 1.400 1.400 2.600-2.600 2.600 2.600 1.400-1.400-2.600-2.600z',
  pin: 'M16 9V4h1V2H7v2h1v5a3 3 0 0 1-3 3v2h6v7l1 1 1-1v-7h6v-2a3 3 0 0 1-3-3z',
  down: 'm12 16-7-7 1.8-1.8 5.2 5.2 5.2-5.200L19 9z',
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon: hidden from screen readers, so text beside it has the meaning. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} fillRule="evenodd" />
    </svg>
  );
}

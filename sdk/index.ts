// biome-ignore-all lint/performance/noBarrelFile: this is the entry of the package.
export type { Environment, Storage, Visibility } from './environment.ts';
export { type ErrorKind, FourbeatError } from './errors.ts';
export { join } from './join.ts';
export type { JoinOptions, Urls } from './join-options.ts';
export type * from './types.ts';
export type * from './viewer.ts';

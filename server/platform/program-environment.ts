import { processEnvironment } from './config.ts';

/**
 * Variables for programs that the service starts: where they and their libraries are, where they
 * write, and what hardware encoders read.
 */
const PROGRAM_VARIABLES = [
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'],
  ...['XDG_RUNTIME_DIR', 'LIBVA_DRIVER_NAME', 'LIBVA_DRIVERS_PATH', 'MFX_HOME'],
  ...['ONEVPL_SEARCH_PATH', 'CUDA_VISIBLE_DEVICES', 'NVIDIA_VISIBLE_DEVICES'],
  ...['NVIDIA_DRIVER_CAPABILITIES'],
];

/** Variables for programs that open addresses themselves. */
export const PROXY_VARIABLES = ['http_proxy', 'no_proxy'];

/**
 * The environment of a program that the service starts. It leaves out the settings of the service,
 * which include passwords: a source that takes over ffmpeg must not get them (M-17).
 */
export function programEnvironment(extraNames: readonly string[] = []): Record<string, string> {
  const environment = processEnvironment();
  return Object.fromEntries(
    [...PROGRAM_VARIABLES, ...extraNames].flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

import { runCommandLine } from './cli/program.ts';
import { processEnvironment } from './platform/config.ts';

// The database contains keys and token hashes: only the owner may read its files (O-20).
process.umask(0o077);

process.exit(
  await runCommandLine(process.argv.slice(2), {
    print: (text) => console.log(text),
    printError: (text) => console.error(text),
    env: processEnvironment(),
  }),
);

import { spawn } from 'node:child_process';

// The script reads a pipe until it is closed, at the latest by the end of this process. It lists the
// children before the kill, because they are found through their parent. A stopped process reacts only
// to KILL. A child of the shell does this, because `--no-orphans` kills the shell with this process.
const SCRIPT = `
exec 3<&0
(
  trap '' INT TERM HUP
  if read -r word <&3 && [ "$word" = over ]; then exit; fi
  if [ "$1" -gt 1 ]; then kill -KILL $1 $(cat /proc/$1/task/$1/children) 2>/dev/null; fi
  for again in 1 2 3 4 5; do
    sleep 0.2
    rm -rf "$2" && exit
  done
) &
wait
`;

/**
 * Kills a server and its children and removes its directory when this process ends, however it ends.
 * @param pid of the server; 0 while none runs
 * @returns a function that ends the watch
 */
export function startWatchdog(pid: number, directory: string): () => void {
  const watchdog = spawn('sh', ['-c', SCRIPT, 'watchdog', String(pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watchdog.unref();
  watchdog.stdin.on('error', () => {});
  return () => watchdog.stdin.end('over\n');
}

/**
 * SIGTERM, SIGINT and SIGHUP (a closed terminal) stop a mill gracefully. A second signal cuts the grace
 * period short and ends the process.
 */
import { systemPlatform } from '../platform/platform.ts'
import type { Mill } from './mill.ts'

type Signals = Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'pid'>

/** A person takes longer than this to press a key twice. */
const ECHO_MS = 250
/** How long a process may take to exit on its own after a second signal stopped the mill. */
const END_MS = 100
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Returns a function that removes the listeners. `stopped` runs after the mill has stopped and decides what
 * to do with the process. Without it the process exits on its own, and after a second signal in any case.
 */
export function stopOnSignals(
  mill: Pick<Mill, 'stop'>,
  {
    stopped,
    failed = () => {},
    beforeClose = () => Promise.resolve(),
    process: target = process,
  }: {
    readonly stopped?: (signal: NodeJS.Signals) => void
    readonly failed?: (error: unknown) => void
    /** As for `stop`. */
    readonly beforeClose?: () => Promise<unknown>
    readonly process?: Signals
  } = {},
): () => void {
  let received = 0
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null
  const stop = (signal: NodeJS.Signals): void => {
    const at = systemPlatform.monotonic()
    // npm forwards a Ctrl-C that the whole process group already received, so it arrives twice.
    if (first?.signal === signal && at - first.at < ECHO_MS) return
    first ??= { signal, at }
    received += 1
    const stopping = received === 1 ? mill.stop({ beforeClose }) : mill.stop({ grace: 0 })
    if (received === 1) stopping.then(() => (stopped ?? endSoon)(signal), failed).finally(remove)
  }
  // A connection that waits for an unresponsive database would keep the process alive until its own deadline.
  const endSoon = (signal: NodeJS.Signals): void => {
    if (received > 1)
      systemPlatform.timer(END_MS, () => void target.kill(target.pid, signal), { unref: true })
  }
  const remove = (): void => SIGNALS.forEach((signal) => void target.off(signal, stop))
  for (const signal of SIGNALS) target.on(signal, stop)
  return remove
}

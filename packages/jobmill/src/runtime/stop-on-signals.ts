/**
 * SIGTERM, SIGINT and SIGHUP (a closed terminal) stop a mill gracefully. A second signal cuts the grace
 * period short and ends the process.
 */
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { systemPlatform } from '../platform/platform.ts'
import type { StopOptions } from './lifecycle.ts'

type Signals = Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'pid'>

/**
 * npm forwards a Ctrl+C that the process group already received. The same signal within this time counts as
 * that copy.
 */
const ECHO_MS = 250
/** How long a stop may take after a second signal, whatever it waits for. */
const END_MS = 1_000
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** The processes whose signals stop a mill: one, except in tests. */
const owned = new Map<object, Signals>()

/** Whether SIGTERM stops this process gracefully. */
export const ownsSignals = (): boolean => owned.size > 0

export function raiseStopSignal(): void {
  for (const target of new Set(owned.values())) target.kill(target.pid, 'SIGTERM')
}

/** A mill, or an application that contains one. */
export interface Stoppable {
  /** A second call gets `grace: 0`. */
  readonly stop: (options: StopOptions) => Promise<unknown>
}

/**
 * Returns a function that removes the listeners. `stopped` runs after the mill has stopped, or one second
 * after a second signal, and decides what to do with the process. Without it the process exits on its own,
 * and one second after a second signal in any case.
 */
export function stopOnSignals(
  mill: Stoppable,
  options: {
    readonly stopped?: (signal: NodeJS.Signals) => void
    readonly failed?: (error: unknown) => void
    /** As for `stop`. */
    readonly beforeClose?: () => Promise<unknown>
    readonly process?: Signals
  } = {},
): () => void {
  checkObjectKeys(options, 'options', ['stopped', 'failed', 'beforeClose', 'process'])
  const { stopped, failed = () => {}, process: target = process } = options
  const { beforeClose = () => Promise.resolve() } = options
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null
  let isOver = false
  const stop = (signal: NodeJS.Signals): void => {
    const at = systemPlatform.monotonic()
    if (first?.signal === signal && at - first.at < ECHO_MS) return
    if (first === null) {
      first = { signal, at }
      mill.stop({ beforeClose }).then(
        () => end(() => stopped?.(signal)),
        (error: unknown) => end(() => failed(error)),
      )
      return
    }
    void mill.stop({ grace: 0 })
    // Requests in flight and connections to an unresponsive database would keep the process alive until
    // their own deadlines.
    systemPlatform.timer(END_MS, () => endNow(signal), { unref: true })
  }
  const end = (act: () => void): void => {
    if (isOver) return
    isOver = true
    remove()
    act()
  }
  const endNow = (signal: NodeJS.Signals): void => {
    end(() => stopped?.(signal))
    if (stopped === undefined) target.kill(target.pid, signal)
  }
  const remove = (): void => {
    owned.delete(stop)
    for (const signal of SIGNALS) target.off(signal, stop)
  }
  owned.set(stop, target)
  for (const signal of SIGNALS) target.on(signal, stop)
  return remove
}

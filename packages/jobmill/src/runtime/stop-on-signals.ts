/** SIGTERM and SIGINT stop a mill as a deploy wants it; a second one cuts the grace short. */
import { systemPlatform } from '../platform/platform.ts'
import type { Mill } from './mill.ts'

type Signals = Pick<NodeJS.Process, 'on' | 'off'>

/** A person who means it twice is slower. */
const ECHO_MS = 250
const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Returns what takes the listeners away again. `stopped` hears when the mill has stopped; the process ends by itself then. */
export function stopOnSignals(
  mill: Pick<Mill, 'stop'>,
  {
    stopped = () => {},
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
  let heard = 0
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null
  const stop = (signal: NodeJS.Signals): void => {
    const at = systemPlatform.monotonic()
    // One Ctrl-C comes twice where npm passes on what its whole group has got already.
    if (first?.signal === signal && at - first.at < ECHO_MS) return
    first ??= { signal, at }
    heard += 1
    const stopping = heard === 1 ? mill.stop({ beforeClose }) : mill.stop({ grace: 0 })
    if (heard === 1) stopping.then(() => stopped(signal), failed).finally(remove)
  }
  const remove = (): void => SIGNALS.forEach((signal) => void target.off(signal, stop))
  for (const signal of SIGNALS) target.on(signal, stop)
  return remove
}

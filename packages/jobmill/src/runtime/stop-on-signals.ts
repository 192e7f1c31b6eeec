/** SIGTERM and SIGINT stop a mill as a deploy wants it; a second one cuts the grace short. */
import type { Mill } from './mill.ts'

type Signals = Pick<NodeJS.Process, 'on' | 'off'>

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Returns what takes the listeners away again. `stopped` hears when the mill has stopped; the process ends by itself then. */
export function stopOnSignals(
  mill: Pick<Mill, 'stop'>,
  {
    stopped = () => {},
    failed = () => {},
    process: target = process,
  }: {
    readonly stopped?: (signal: NodeJS.Signals) => void
    readonly failed?: (error: unknown) => void
    readonly process?: Signals
  } = {},
): () => void {
  let heard = 0
  const stop = (signal: NodeJS.Signals): void => {
    heard += 1
    const stopping = heard === 1 ? mill.stop() : mill.stop({ grace: 0 })
    if (heard === 1) stopping.then(() => stopped(signal), failed).finally(remove)
  }
  const remove = (): void => SIGNALS.forEach((signal) => void target.off(signal, stop))
  for (const signal of SIGNALS) target.on(signal, stop)
  return remove
}

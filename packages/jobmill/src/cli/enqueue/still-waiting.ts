/** Waits for a job, and says once why nothing happens when somebody has to do something about it. */
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { ReasonName } from '../../runtime/why.ts'
import { oneLine } from '../plain.ts'
import type { Terminal } from '../terminal.ts'

const AFTER_MS = 2_000

/** What does not pass by itself. */
const STANDING: ReadonlySet<ReasonName> = new Set([
  'queue-without-worker',
  'kind-without-worker',
  'paused',
  'no-workers',
])

export async function stillWaiting<T>(
  id: string,
  result: Promise<T>,
  {
    mill,
    terminal,
  }: { readonly mill: Pick<Mill, 'why'>; readonly terminal: Pick<Terminal, 'err' | 'status'> },
  platform: Platform = systemPlatform,
): Promise<T> {
  let isOver = false
  const tell = async (): Promise<void> => {
    const why = await mill.why(id)
    const reasons = (why?.reasons ?? []).filter((reason) => STANDING.has(reason.why))
    if (isOver || reasons.length === 0) return
    terminal.status('')
    terminal.err(oneLine(`note    still waiting: ${reasons.map(({ says }) => says).join('; ')}`))
  }
  // Trouble with the database is told by whoever waits for the result.
  const timer = platform.timer(AFTER_MS, () => void tell().catch(() => {}))
  try {
    return await result
  } finally {
    isOver = true
    timer.cancel()
  }
}

/** Waits for a job, and after 2 s prints why it is not running if an operator has to act. */
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { ReasonName } from '../../runtime/diagnose/why.ts'
import { oneLine } from '../plain.ts'
import type { Terminal } from '../terminal.ts'

const AFTER_MS = 2_000

/** Reasons that do not resolve on their own. */
const PERSISTENT: ReadonlySet<ReasonName> = new Set([
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
  const explain = async (): Promise<void> => {
    const why = await mill.why(id)
    const reasons = (why?.reasons ?? []).filter((reason) => PERSISTENT.has(reason.why))
    if (isOver || reasons.length === 0) return
    terminal.status('')
    terminal.err(oneLine(`note    still waiting: ${reasons.map(({ message }) => message).join('; ')}`))
  }
  // Database errors are reported by the wait for the result.
  const timer = platform.timer(AFTER_MS, () => void explain().catch(() => {}))
  try {
    return await result
  } finally {
    isOver = true
    timer.cancel()
  }
}

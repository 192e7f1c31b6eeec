/** Sleeping, and the backoff after failures. */
import { setTimeout as timeout } from 'node:timers/promises'

export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
}

/** Resolves early if the signal fires. Never rejects. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await timeout(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal }).catch(() => {})
}

/** The longest timer of Node. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** The longest wait that a server can ask for. */
const LONGEST_ASKED_MS = 300_000

/** Exponential backoff with jitter, so that many clients do not retry together. */
export function delayAfter(failures: number, { firstMs, mostMs }: Backoff, askedMs = 0): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return Math.max(full / 2 + (Math.random() * full) / 2, Math.min(askedMs, LONGEST_ASKED_MS))
}

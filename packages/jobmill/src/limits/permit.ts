/** The permit object that callers hold. */
import type { DrawResult } from '../job/limit/limit-draw.ts'
import type { Permit } from '../job/limit/limit-handle.ts'

export function permit({ limit, amount, key }: DrawResult, releasePermit: () => Promise<void>): Permit {
  let released: Promise<void> | null = null
  const release = (): Promise<void> => (released ??= releasePermit())
  return { limit, ...(key !== undefined && { key }), amount, release, [Symbol.asyncDispose]: release }
}

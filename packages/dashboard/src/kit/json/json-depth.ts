/** How deep JSON is expanded at first: enough to read at a glance, and never more than a page can hold. */

/** Entries of a list or an object that are shown at first; the rest on demand. */
export const PART = 50
const DEEPEST_OPEN = 3
/** Lines that are shown at first. */
const MOST_LINES = 1_000

export function openDepth(value: unknown): number {
  let level: readonly unknown[] = [value]
  let lines = 1
  for (let depth = 0; depth < DEEPEST_OPEN; depth += 1) {
    const next: unknown[] = []
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue
      const parts: readonly unknown[] = Array.isArray(one) ? one : Object.values(one)
      next.push(...parts.slice(0, PART))
      // Part of the outermost level is always shown.
      if (depth > 0 && lines + next.length > MOST_LINES) return depth
    }
    if (next.length === 0) return DEEPEST_OPEN
    lines += next.length
    level = next
  }
  return DEEPEST_OPEN
}

/** How deep JSON is shown open at first: as deep as is read at a glance, and no deeper than what a page can hold. */

/** Shown at once of a list or an object; the rest on demand. */
export const PART = 50
const DEEPEST_OPEN = 3
/** Lines that are shown without being asked for. */
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
      // Of the outermost a part is always shown.
      if (depth > 0 && lines + next.length > MOST_LINES) return depth
    }
    if (next.length === 0) return DEEPEST_OPEN
    lines += next.length
    level = next
  }
  return DEEPEST_OPEN
}

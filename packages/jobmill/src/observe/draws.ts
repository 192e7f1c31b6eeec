/** How often handlers drew on limits, and what they were told: counters of a limit, by the kind that asked. */

export const DRAWS = ['granted', 'refused'] as const
export type DrawCount = (typeof DRAWS)[number]

/** The counter of a kind. A kind may hold any character, so it stands at the end. */
export function drawCounter(draw: DrawCount, kind: string): string {
  return `${draw} ${kind}`
}

/** What `drawCounter` put together; null for another counter. */
export function drawOf(counter: string): { readonly draw: DrawCount; readonly kind: string } | null {
  const draw = DRAWS.find((one) => counter.startsWith(`${one} `))
  return draw === undefined ? null : { draw, kind: counter.slice(draw.length + 1) }
}

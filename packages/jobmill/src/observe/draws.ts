/** Counters of limit requests by handlers, per limit and kind, with the result of each request. */

export const DRAWS = ['granted', 'refused'] as const
export type DrawCount = (typeof DRAWS)[number]

/** The counter of a kind. The kind comes last, so that `drawOf` can parse it. */
export function drawCounter(draw: DrawCount, kind: string): string {
  return `${draw} ${kind}`
}

/** Parses a name made by `drawCounter`. Null for another counter. */
export function drawOf(counter: string): { readonly draw: DrawCount; readonly kind: string } | null {
  const draw = DRAWS.find((one) => counter.startsWith(`${one} `))
  return draw === undefined ? null : { draw, kind: counter.slice(draw.length + 1) }
}

/** The type of a conformance case. */
import type { Bench } from './bench.ts'

export interface Case {
  /** Starts with the numbers of the guarantees it checks, if any: `P2 P3 a stale …`. */
  readonly name: string
  readonly run: (bench: Bench) => Promise<void>
}

/** What a conformance case is. */
import type { Bench } from './bench.ts'

export interface Case {
  /** Begins with the promises it guards, where there are any: `P2 P3 a stale …`. */
  readonly name: string
  readonly run: (bench: Bench) => Promise<void>
}

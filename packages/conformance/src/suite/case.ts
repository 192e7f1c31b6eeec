/** The type of a conformance case. */
import type { Bench } from './bench.ts'
import type { OptionalGroup } from './groups.ts'

export interface Case {
  /** Starts with the numbers of the guarantees it checks, if any: `P2 P3 a stale …`. */
  readonly name: string
  /** What it uses in addition to the required parts and its own group. */
  readonly needs?: readonly OptionalGroup[]
  readonly run: (bench: Bench) => Promise<void>
}

/** A case of its group. `needs`: the other optional parts that it uses. */
export function test(name: string, run: Case['run'], ...needs: OptionalGroup[]): Case {
  return { name, needs, run }
}

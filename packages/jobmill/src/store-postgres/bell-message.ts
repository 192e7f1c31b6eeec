/** What the doorbell says to other processes, as text. */
import type { Rung } from '../store/rung.ts'

/** A queue, and how many jobs there are for the taking; null when that is not known. */
export interface Ring {
  readonly queue: string
  readonly jobs: number | null
}

export interface BellMessage {
  /** The doorbell that sent it, which hears itself too. */
  readonly from: string
  readonly turn: number
  readonly skip: number
  /** Left out: it could be any queue. */
  readonly rings?: readonly Ring[]
}

// NOTIFY takes at most 8,000 bytes.
const MOST_BYTES = 7_500

/** Too long a list of queues becomes none: then everybody looks. */
export function messageText({ from, turn, skip, rings }: BellMessage): string {
  const told = JSON.stringify({ from, turn, skip, rings })
  return Buffer.byteLength(told) <= MOST_BYTES ? told : JSON.stringify({ from, turn, skip })
}

const isRing = ({ queue }: Ring): boolean => typeof queue === 'string'

/** Undefined for a text that another release sent, or anybody else who may connect, which says no more than that something rang. */
export function readMessage(text: string): BellMessage | undefined {
  try {
    const told = JSON.parse(text) as BellMessage
    return typeof told.from === 'string' && (told.rings ?? []).every(isRing) ? told : undefined
  } catch {
    return undefined
  }
}

export function rungsOf({ turn, skip, rings = [] }: BellMessage, passes: boolean): Rung[] {
  return rings.map(({ queue, jobs }) => ({ queue, jobs, turn, skip, passes }))
}

/** Numbers of the same queue are added up; one that is not known makes the sum unknown. */
export function addRings(sums: Map<string, number | null>, rings: readonly Ring[]): void {
  for (const { queue, jobs } of rings) {
    const before = sums.get(queue)
    sums.set(queue, jobs === null || before === null ? null : (before ?? 0) + jobs)
  }
}

/**
 * A ring of the notifier, and whom it is for. An enqueue must wake as many free workers as there are jobs, not everybody: all who hear the same ring put
 * those who serve the queue into the same order, drawn anew for each ring, and only the first of them, as many as it takes, look for the jobs.
 */

export interface WakeUp {
  readonly queue: string
  /** How many jobs there are for the taking; null when that is not known: then everybody looks. */
  readonly jobs: number | null
  /** The same for all who hear the ring: the order is drawn from it. */
  readonly seed: number
  /** So many of the order have been asked already. */
  readonly skip: number
  /** Whether whoever has no room hands it on. False: those who are not the first look a little later. */
  readonly passes: boolean
}

/** Of a ring that does not say how many jobs there are: everybody looks. */
export function wakeAll(queue: string): WakeUp {
  return { queue, jobs: null, seed: 0, skip: 0, passes: false }
}

/** One who may take jobs of the queue. */
export interface Candidate {
  readonly instance: string
  readonly workers: number
}

export interface Chosen {
  /** How many of the jobs are for this instance; 0 when others come first. */
  readonly jobs: number
  /** Where the order goes on after all who were chosen; null at its end. */
  readonly skip: number | null
}

/** What of a ring is for one of those who serve the queue. */
export function chosen(
  wakeUp: WakeUp & { readonly jobs: number },
  all: readonly Candidate[],
  me: string,
): Chosen {
  const order = all
    .map((one) => ({ ...one, place: placeOf(wakeUp.seed, one.instance) }))
    .toSorted((a, b) => a.place - b.place || (a.instance < b.instance ? -1 : 1))
  let left = wakeUp.jobs
  let mine = 0
  let at = wakeUp.skip
  for (; at < order.length && left > 0; at += 1) {
    const one = order[at]
    if (one === undefined) break
    const jobs = Math.min(one.workers, left)
    if (one.instance === me) mine = jobs
    left -= jobs
  }
  return { jobs: mine, skip: at < order.length ? at : null }
}

/** FNV-1a: spread well enough to be fair, and the same everywhere. */
function placeOf(seed: number, instance: string): number {
  let hash = 0x811c9dc5
  for (const letter of `${seed} ${instance}`) {
    hash ^= letter.charCodeAt(0)
    hash = Math.imul(hash, 0x01000193)
  }
  return hash >>> 0
}

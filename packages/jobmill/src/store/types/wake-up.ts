/**
 * Wake-ups, and the choice of the instances that respond to them. An enqueue should wake as many free workers
 * as there are jobs, not all of them. Every receiver sorts the instances of the queue into the same order,
 * which changes with each wake-up. Only the first ones, as many as needed, claim.
 */

export interface WakeUp {
  readonly queue: string
  /**
   * How many jobs are available; null if unknown, and then every instance claims. 0: none yet, but something
   * changed that a heartbeat reports, such as a job that will be due soon.
   */
  readonly jobs: number | null
  /** Seed of the order, the same for all receivers. */
  readonly seed: number
  /** How many instances of the order were already notified. */
  readonly skip: number
  /**
   * Whether an instance without a free worker forwards the wake-up. If false, the remaining instances claim a
   * little later.
   */
  readonly passes: boolean
}

/** A wake-up with an unknown number of jobs: every instance claims. */
export function wakeAll(queue: string): WakeUp {
  return { queue, jobs: null, seed: 0, skip: 0, passes: false }
}

/** An instance that serves the queue. */
export interface Candidate {
  readonly instance: string
  readonly workers: number
}

export interface WakeUpShare {
  /** How many of the jobs are for this instance; 0 if other instances come first. */
  readonly jobs: number
  /** The position in the order after all chosen instances; null at its end. */
  readonly skip: number | null
}

/** Computes the share of one instance in a wake-up. */
export function shareOf(
  wakeUp: WakeUp & { readonly jobs: number },
  all: readonly Candidate[],
  me: string,
): WakeUpShare {
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

/** FNV-1a: distributes evenly enough to be fair, and gives the same result in every process. */
function placeOf(seed: number, instance: string): number {
  let hash = 0x811c9dc5
  for (const letter of `${seed} ${instance}`) {
    hash ^= letter.charCodeAt(0)
    hash = Math.imul(hash, 0x01000193)
  }
  return hash >>> 0
}

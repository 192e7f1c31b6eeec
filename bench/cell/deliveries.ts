// Checks exact delivery: every job ran once, none is missing. Every case uses it, so that no figure counts
// work that was not done.

export interface Deliveries {
  /** Called inside the handlers. */
  readonly ran: (n: number) => void
  /** The number of runs so far. */
  readonly count: () => number
  /** Resolves when each job has run at least once. */
  readonly all: Promise<void>
  /** Throws when a job is missing or ran twice. */
  readonly check: () => void
}

/** Tracks the jobs 0 to `jobs` − 1. */
export function deliveries(jobs: number): Deliveries {
  const times = new Uint8Array(jobs)
  const { promise: all, resolve } = Promise.withResolvers<void>()
  let runs = 0
  let different = 0
  if (jobs === 0) resolve()
  return {
    all,
    count: () => runs,
    ran(n) {
      runs += 1
      if (times[n] === 0) different += 1
      times[n] = Math.min((times[n] ?? 0) + 1, 255)
      if (different === jobs) resolve()
    },
    check() {
      const missing = jobs - different
      if (missing > 0 || runs !== jobs) {
        throw new Error(
          `delivery is not exact: ${jobs} jobs, ${missing} missing, ${runs - different} run twice`,
        )
      }
    },
  }
}

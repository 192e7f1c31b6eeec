/** Counts the runs of each step, and finds runs that durable steps exclude. */

interface Recorded {
  readonly name: string
  /** Null until its result is recorded. */
  readonly endedAt: number | null
}

export interface StepCounter {
  /** Call it when a step runs. */
  ran(step: string): Promise<void>
  /** How often the steps ran, in the order of their first run. */
  runs(): ReadonlyMap<string, number>
  /** One sentence for each violation. Call it when the job is done. */
  violations(): Promise<string[]>
}

/** `recorded` reads the steps of the job from the database. */
export function stepCounter(recorded: () => Promise<readonly Recorded[]>): StepCounter {
  const runs = new Map<string, number>()
  const repeated: string[] = []
  const doneSteps = async (): Promise<Set<string>> =>
    new Set((await recorded()).filter(({ endedAt }) => endedAt !== null).map(({ name }) => name))
  return {
    runs: () => runs,
    async ran(step) {
      runs.set(step, (runs.get(step) ?? 0) + 1)
      if ((await doneSteps()).has(step)) repeated.push(step)
    },
    async violations() {
      const done = await doneSteps()
      const unrecorded = [...runs.keys()].filter((step) => !done.has(step))
      const neverRan = [...done].filter((step) => !runs.has(step))
      return [
        ...repeated.map((step) => `step "${step}" ran again after it was recorded`),
        ...unrecorded.map((step) => `step "${step}" ran, and is not recorded`),
        ...neverRan.map((step) => `step "${step}" is recorded, and never ran`),
      ]
    },
  }
}

// Runs a property with the seed and the number of runs from the environment, and prints how to replay a
// failure.
import * as fc from 'fast-check'

const { JOBMILL_RUNS } = process.env

/** Shrinking stops after this time: a long reported failure beats a short unreported one. */
const SHRINK_MS = 60_000

/**
 * The most characters of an example that are shown. The error message has the important part of a long one.
 */
const MOST_SHOWN = 2_000

/** The timeout of a test, including shrinking. `usualRuns` is for daily use; JOBMILL_RUNS asks for more. */
export function timeoutMs(usualRuns: number): number {
  return 2 * SHRINK_MS + (runsOf(usualRuns) / usualRuns) * SHRINK_MS
}

function runsOf(usualRuns: number): number {
  return JOBMILL_RUNS === undefined ? usualRuns : Number(JOBMILL_RUNS)
}

export async function check<T>(
  file: string,
  arbitrary: fc.Arbitrary<T>,
  usualRuns: number,
  holds: (value: T) => Promise<void>,
): Promise<void> {
  const numRuns = runsOf(usualRuns)
  let failedAt = Number.POSITIVE_INFINITY
  const details = await fc.check(
    fc.asyncProperty(arbitrary, async (value) => {
      // After a failure only shrinking continues; when it takes too long, every smaller case passes.
      if (performance.now() - failedAt > SHRINK_MS) return
      try {
        await holds(value)
      } catch (error) {
        failedAt = Math.min(failedAt, performance.now())
        throw error
      }
    }),
    // Without the bias of fast-check for short lists, in which little happens.
    {
      numRuns,
      plugins: [fc.unbiased()],
    },
  )
  if (!details.failed) return
  const replay = `JOBMILL_SEED=${details.seed} JOBMILL_RUNS=${details.numRuns} npx vitest run ${file}`
  const why =
    details.errorInstance instanceof Error ? details.errorInstance.message : String(details.errorInstance)
  const example = fc.stringify(details.counterexample).slice(0, MOST_SHOWN)
  throw new Error(`${why}\n\nreplay with:\n  ${replay}\n\nafter ${details.numShrinks} shrinks: ${example}`, {
    cause: details.errorInstance,
  })
}

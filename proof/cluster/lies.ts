/**
 * To test this proof: JOBMILL_CLUSTER_LIE injects false records, so that each check can be seen to fail.
 * Separate several with commas:
 *
 *   drop-job    an acknowledged job is deleted from the store before the comparison
 *   forget-run  a worker does not record one run
 *   run-twice   a worker records one run twice
 *   no-order    ordered jobs are enqueued without their order key
 *   silent-end  the replacement of the killed worker exits on its own
 */

const LIES = ['drop-job', 'forget-run', 'run-twice', 'no-order', 'silent-end'] as const
export type Lie = (typeof LIES)[number]

export function liesFrom(variable: string | undefined): readonly Lie[] {
  const named = (variable ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const unknown = named.find((name) => !LIES.some((lie) => lie === name))
  if (unknown !== undefined)
    throw new Error(`JOBMILL_CLUSTER_LIE: unknown value (got "${unknown}"). Use ${LIES.join(', ')}`)
  return LIES.filter((lie) => named.includes(lie))
}

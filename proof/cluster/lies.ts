/**
 * For the test of this proof: JOBMILL_CLUSTER_LIE makes it lie, so that every promise can be seen to break. Several, with commas between:
 *
 *   drop-job    an acknowledged job is deleted from the store before the comparison
 *   forget-run  a worker does not write down one run
 *   run-twice   a worker writes down one run twice
 *   no-lines    jobs that are to run one after the other are enqueued without their order key
 *   silent-end  the worker that takes the place of the killed one ends by itself
 */

const LIES = ['drop-job', 'forget-run', 'run-twice', 'no-lines', 'silent-end'] as const
export type Lie = (typeof LIES)[number]

export function liesFrom(variable: string | undefined): readonly Lie[] {
  const named = (variable ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const unknown = named.find((name) => !LIES.some((lie) => lie === name))
  if (unknown !== undefined)
    throw new Error(`JOBMILL_CLUSTER_LIE: there is no "${unknown}". Use ${LIES.join(', ')}`)
  return LIES.filter((lie) => named.includes(lie))
}

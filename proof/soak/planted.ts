/**
 * For whoever doubts this proof: JOBMILL_SOAK_LEAK plants a leak, so that it can be seen to fail. Several, with commas between:
 *
 *   memory     the mill's process keeps a little of every job that ends
 *   timer      a timer a second that never fires
 *   listener   a listener of the process a second
 *   rows       ended jobs are never deleted
 *   lost       one job that is acknowledged is deleted
 */

const LEAKS = ['memory', 'timer', 'listener', 'rows', 'lost'] as const
export type Leak = (typeof LEAKS)[number]

export function leaksFrom(variable: string | undefined): readonly Leak[] {
  const named = (variable ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const unknown = named.find((name) => !LEAKS.some((leak) => leak === name))
  if (unknown !== undefined)
    throw new Error(`JOBMILL_SOAK_LEAK: there is no "${unknown}". Use ${LEAKS.join(', ')}`)
  return LEAKS.filter((leak) => named.includes(leak))
}

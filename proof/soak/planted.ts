/**
 * To test this proof: JOBMILL_SOAK_LEAK plants leaks, so that it can be seen to fail. Separate several with
 * commas:
 *
 *   memory     the mill's process keeps some memory of every ended job
 *   timer      a timer a second that never fires
 *   listener   a process listener a second
 *   rows       ended jobs are never deleted
 *   lost       one acknowledged job is deleted
 */

const LEAKS = ['memory', 'timer', 'listener', 'rows', 'lost'] as const
export type Leak = (typeof LEAKS)[number]

export function leaksFrom(variable: string | undefined): readonly Leak[] {
  const named = (variable ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const unknown = named.find((name) => !LEAKS.some((leak) => leak === name))
  if (unknown !== undefined)
    throw new Error(`JOBMILL_SOAK_LEAK: unknown value (got "${unknown}"). Use ${LEAKS.join(', ')}`)
  return LEAKS.filter((leak) => named.includes(leak))
}

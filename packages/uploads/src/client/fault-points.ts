/**
 * The fault points of the client, where a test can stop it between two steps. The same guarantees hold after
 * each.
 */
export const PULL_FAULT_POINTS = [
  // One file, from the list to its acknowledgement.
  'pull:listed',
  'pull:opened',
  'pull:half',
  'pull:written',
  'pull:flushed',
  'pull:renamed',
  'pull:kept',
  'pull:known',
  'pull:told',
  'pull:acked',
  'pull:noted',
  // A file whose retention in the folder is over.
  'clean:file',
  'clean:entry',
] as const

export type PullFaultPoint = (typeof PULL_FAULT_POINTS)[number]
export type PullFault = (point: PullFaultPoint) => void | Promise<void>
